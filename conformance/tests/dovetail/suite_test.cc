// The suite for DLPack libraries on Dovetail.

#include "dlpack_conformance/suite.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail {
namespace {

using dlpack_conformance::ArraySpec;
using dlpack_conformance::Seen;

StorageRef CopyOf(const void* bytes, size_t nbytes) {
  void* const memory = std::malloc(nbytes + 1);
  if (nbytes > 0) std::memcpy(memory, bytes, nbytes);
  return Storage::Adopt(memory, nbytes, Device::Cpu(), {[](void* p) { std::free(p); }, memory});
}

struct Dovetail {
  using Array = Tensor;
  static constexpr bool kPassesOnDevices = true;

  static absl::StatusOr<Tensor> Make(const ArraySpec& spec) {
    const DType dtype = ToDType(spec.dtype);
    absl::StatusOr<Layout> view = Layout::Strided(spec.view_shape, spec.view_strides);
    if (!view.ok()) return view.status();
    absl::StatusOr<Tensor> x =
        Tensor::Make(CopyOf(spec.elements, spec.nbytes()), spec.view_offset * dtype.bits / 8, dtype,
                     *std::move(view), {});
    if (!x.ok() || !spec.read_only) return x;
    return x->ReadOnly();
  }

  static absl::StatusOr<UniqueDLPack> Export(const Tensor& x) { return ToDLPack(x); }
  static absl::StatusOr<UniqueDLPackLegacy> ExportLegacy(const Tensor& x) {
    return ToDLPackLegacy(x);
  }
  // Of a contiguous tensor.
  static absl::StatusOr<UniqueDLPack> ExportCopy(const Tensor& x) {
    if (!x.is_contiguous()) return absl::UnimplementedError("the tensor is not contiguous");
    const auto nbytes = static_cast<size_t>(x.nbytes());
    absl::StatusOr<Tensor> copy =
        Tensor::Make(CopyOf(x.raw_data(), nbytes), 0, x.dtype(), x.layout(), {});
    if (!copy.ok()) return copy.status();
    return ToDLPack(*copy, {.is_copied = true});
  }
  static absl::StatusOr<Tensor> Import(DLManagedTensorVersioned* managed) {
    return FromDLPack(managed);
  }
  static absl::StatusOr<Tensor> ImportLegacy(DLManagedTensor* managed) {
    return FromDLPack(managed);
  }

  static Seen Look(const Tensor& y) {
    return {ToDLDataType(y.dtype()),
            y.raw_data(),
            {y.shape().begin(), y.shape().end()},
            {y.strides().begin(), y.strides().end()}};
  }
  static absl::Status Write(const Tensor& y) {
    absl::StatusOr<ElementRange<float>> elements = y.elements<float>();
    if (!elements.ok()) return elements.status();
    for (float& element : *elements) element = 7;
    return absl::OkStatus();
  }
};

DLPACK_CONFORMANCE(Dovetail, Dovetail);

}  // namespace
}  // namespace dovetail
