// Takes the buffers of an XLA FFI handler in, without a copy.
//
//   ffi::Error Handler(ffi::AnyBuffer in, ffi::Result<ffi::BufferR2<ffi::F32>> out) {
//     absl::StatusOr<Tensor> x = AsTensor(in);                 // read-only
//     absl::StatusOr<Tensor> y = AsTensor(out);                // writable
//     absl::StatusOr<XlaBufferView> v = AsTensorView(in);      // the same without an allocation
//     if (!x.ok()) return ToFfiError(x.status());              // error.h
//
// Arguments are read-only, since XLA may use their memory again; results are writable. Both are
// row-major and aligned as XLA made them. Pass a Result itself: `*result` is an argument by its
// type.
//
// Nothing is owned: tensors and views must not outlive the handler's call or, if the handler
// returns a Future, its completion. The functions may be called on any thread.

#ifndef DOVETAIL_INTEROP_XLA_FFI_BUFFER_H_
#define DOVETAIL_INTEROP_XLA_FFI_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/tensor_wrap.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/xla_ffi/type_table.h"
#include "xla/ffi/api/ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// What a TensorView points to, for a buffer of XLA, which has no strides: a copy of the shape, and
// the strides.
class XlaBufferView {
 public:
  XlaBufferView(void* data, Device device, DType dtype, Access access, Layout layout)
      : data_(data), device_(device), dtype_(dtype), access_(access), layout_(std::move(layout)) {}

  void* raw_data() const { return data_; }
  Device device() const { return device_; }
  DType dtype() const { return dtype_; }
  Access access() const { return access_; }
  const Layout& layout() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return layout_; }
  absl::Span<const int64_t> shape() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return layout_.shape(); }

  // Valid while this object is alive and unchanged.
  TensorView view() const& ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return {.data = data_,
            .device = device_,
            .dtype = dtype_,
            .access = access_,
            .shape = layout_.shape(),
            .strides = layout_.strides()};
  }
  TensorView view() const&& = delete;
  operator TensorView() const& ABSL_ATTRIBUTE_LIFETIME_BOUND { return view(); }  // NOLINT
  operator TensorView() const&& = delete;

 private:
  void* data_;
  Device device_;
  DType dtype_;
  Access access_;
  Layout layout_;
};

namespace internal_xla_ffi {

template <typename T>
inline constexpr bool kIsBuffer = false;
template <>
inline constexpr bool kIsBuffer<xla::ffi::AnyBuffer> = true;
template <xla::ffi::DataType dtype, size_t rank>
inline constexpr bool kIsBuffer<xla::ffi::Buffer<dtype, rank>> = true;

template <typename T>
concept XlaBuffer = kIsBuffer<T>;

[[gnu::cold]] inline absl::Status TypeError(xla::ffi::DataType type) {
  std::ostringstream name;
  name << type;
  return internal_interop::RefusalOf(absl::StrCat("XLA buffer of type ", name.str()),
                                     "Dovetail has no such element type",
                                     "Convert it in JAX with x.astype(another type)");
}

// The DType and the shape of a buffer. InvalidArgument if Dovetail has no such type.
template <XlaBuffer Buffer>
absl::Status Describe(const Buffer& buffer, DType* dtype, absl::Span<const int64_t>* shape) {
  *dtype = FromXlaDataType(buffer.element_type());
  if (!dtype->is_known()) [[unlikely]]
    return TypeError(buffer.element_type());
  const auto dims = buffer.dimensions();
  *shape = {dims.begin(), dims.size()};
  return absl::OkStatus();
}

template <XlaBuffer Buffer>
absl::StatusOr<Tensor> MakeTensor(const Buffer& buffer, Device device, Access access) {
  DType dtype;
  absl::Span<const int64_t> shape;
  if (absl::Status s = Describe(buffer, &dtype, &shape); !s.ok()) return s;
  return internal_tensor::WrapUnowned(buffer.untyped_data(), dtype, shape, nullptr, device, access);
}

template <XlaBuffer Buffer>
absl::StatusOr<XlaBufferView> MakeView(const Buffer& buffer, Device device, Access access) {
  DType dtype;
  absl::Span<const int64_t> shape;
  if (absl::Status s = Describe(buffer, &dtype, &shape); !s.ok()) return s;
  absl::StatusOr<Layout> layout = Layout::Contiguous(shape);
  if (!layout.ok()) return layout.status();
  ByteRange bytes;
  if (absl::Status s = BytesReached(*layout, dtype, Packing::kPacked, &bytes); !s.ok()) return s;
  void* const data = buffer.untyped_data();
  if (data == nullptr && layout->num_elements() != 0) [[unlikely]] {
    return internal_interop::RefusalOf("XLA buffer", "it has elements but no memory (nullptr)",
                                       "Call the handler through XLA");
  }
  return XlaBufferView(data, device, dtype, access, *std::move(layout));
}

}  // namespace internal_xla_ffi

// InvalidArgument, with the reason, for an element type that Dovetail lacks (TOKEN, S1, U1), a bad
// shape, and elements without memory. On a GPU pass Device::Cuda(ordinal), with the ordinal of
// Ctx<ffi::DeviceOrdinal>() (stream.h).
template <internal_xla_ffi::XlaBuffer Buffer>
absl::StatusOr<Tensor> AsTensor(const Buffer& argument, Device device = Device::Cpu()) {
  return internal_xla_ffi::MakeTensor(argument, device, Access::kReadOnly);
}
template <internal_xla_ffi::XlaBuffer Buffer>
absl::StatusOr<Tensor> AsTensor(xla::ffi::Result<Buffer> result, Device device = Device::Cpu()) {
  return internal_xla_ffi::MakeTensor(*result, device, Access::kReadWrite);
}

// The same without an allocation, for up to Layout::kInlineRank dimensions.
template <internal_xla_ffi::XlaBuffer Buffer>
absl::StatusOr<XlaBufferView> AsTensorView(const Buffer& argument, Device device = Device::Cpu()) {
  return internal_xla_ffi::MakeView(argument, device, Access::kReadOnly);
}
template <internal_xla_ffi::XlaBuffer Buffer>
absl::StatusOr<XlaBufferView> AsTensorView(xla::ffi::Result<Buffer> result,
                                           Device device = Device::Cpu()) {
  return internal_xla_ffi::MakeView(*result, device, Access::kReadWrite);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_XLA_FFI_BUFFER_H_
