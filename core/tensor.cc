#include "dovetail/core/tensor.h"

#include <cstdio>
#include <cstdlib>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/internal/views/views.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using internal_storage::StorageAccess;
using internal_tensor::NullTensorError;
using internal_tensor::TensorBuilder;

namespace {

// The general path: any shape and device, with all errors.
[[gnu::noinline]] absl::Status BuildEmpty(absl::Span<const int64_t> shape, DType dtype,
                                          Device device, Tensor* tensor) {
  TensorBuilder builder(tensor);
  ByteRange bytes;
  absl::Status status = internal_layout::Assign(
      builder.layout(), static_cast<int64_t>(shape.size()), shape.data(), nullptr);
  if (status.ok()) status = BytesReached(*builder.layout(), dtype, Packing::kPacked, &bytes);
  if (!status.ok()) return status;
  absl::StatusOr<StorageRef> storage = Storage::Allocate(bytes.size(), device);
  if (!storage.ok()) return storage.status();
  if (dtype.is_sub_byte() && bytes.size() > 0 && IsHostAccessible(device.type)) {
    static_cast<char*>((*storage)->data())[bytes.size() - 1] = 0;
  }
  builder.Finish(*std::move(storage), 0, dtype, {});
  return absl::OkStatus();
}

// Kept out of Tensor::Empty, whose fast path would otherwise save registers for this call.
[[gnu::noinline]] void EmptyAnywhere(absl::Span<const int64_t> shape, DType dtype, Device device,
                                     absl::StatusOr<Tensor>* tensor) {
  absl::Status status = BuildEmpty(shape, dtype, device, &**tensor);
  if (!status.ok()) *tensor = std::move(status);
}

// Fast path for the most frequent case: whole-byte elements in host memory, small enough for a
// block that this thread keeps. False if nothing was built. `tensor` is null, of rank 0.
[[gnu::always_inline]] inline bool BuildFromKept(absl::Span<const int64_t> shape, DType dtype,
                                                 Device device, Tensor* tensor) {
  TensorBuilder builder = TensorBuilder::OfNull(tensor);
  const int64_t bits = StepBits(dtype, Packing::kPacked);
  Extent extent;
  if (device != Device::Cpu() || bits % 8 != 0 ||
      !internal_layout::TryAssignPlain(builder.layout(), static_cast<int64_t>(shape.size()),
                                       shape.data(), nullptr, &extent)) [[unlikely]] {
    return false;
  }
  Storage* const storage =
      StorageAccess::TryTakeKept(builder.layout()->num_elements() * (bits / 8));
  if (storage == nullptr) [[unlikely]]
    return false;
  builder.Finish(StorageRef::Take(storage), 0, dtype, {});
  return true;
}

}  // namespace

absl::StatusOr<Tensor> Tensor::Empty(absl::Span<const int64_t> shape, DType dtype, Device device) {
  absl::StatusOr<Tensor> tensor(std::in_place);  // built in place
  if (!BuildFromKept(shape, dtype, device, &*tensor)) [[unlikely]]
    EmptyAnywhere(shape, dtype, device, &tensor);
  return tensor;
}

absl::Status internal_tensor::MakeEmpty(absl::Span<const int64_t> shape, DType dtype, Device device,
                                        Tensor* tensor) {
  std::destroy_at(tensor);
  new (tensor) Tensor();
  if (BuildFromKept(shape, dtype, device, tensor)) [[likely]]
    return absl::OkStatus();
  return BuildEmpty(shape, dtype, device, tensor);
}

absl::StatusOr<Tensor> Tensor::Make(StorageRef storage, int64_t byte_offset, DType dtype,
                                    Layout layout, Options options) {
  if (!storage) return absl::InvalidArgumentError("A tensor needs a storage.");
  if (!dtype.is_known()) {
    return absl::InvalidArgumentError(absl::StrCat("Unknown type ", dtype.ToString(), "."));
  }
  options.packing = PackingOf(dtype, options.packing);
  ByteRange bytes;
  if (absl::Status s = BytesReached(layout, dtype, options.packing, &bytes); !s.ok()) return s;
  int64_t begin, end;
  const bool fits = !__builtin_add_overflow(byte_offset, bytes.begin, &begin) &&
                    !__builtin_add_overflow(byte_offset, bytes.end, &end);
  const bool bounded = IsAddressable(storage->device().type) && layout.num_elements() != 0;
  if (!fits || (bounded && (begin < 0 || static_cast<uint64_t>(end) > storage->nbytes()))) {
    return absl::InvalidArgumentError(
        absl::StrCat(layout.ToString(), " of ", dtype.ToString(), " from byte ", byte_offset,
                     " reaches outside a storage of ", storage->nbytes(), " bytes."));
  }
  return Tensor(std::move(storage), byte_offset, dtype, std::move(layout), options);
}

absl::StatusOr<Tensor> internal_tensor::WrapUnowned(void* data, DType dtype,
                                                    absl::Span<const int64_t> shape,
                                                    const absl::Span<const int64_t>* strides,
                                                    Device device, Access access) {
  absl::StatusOr<Layout> layout =
      strides == nullptr ? Layout::Contiguous(shape) : Layout::Strided(shape, *strides);
  if (!layout.ok()) return layout.status();
  ByteRange bytes;
  if (absl::Status s = BytesReached(*layout, dtype, Packing::kPacked, &bytes); !s.ok()) return s;
  if (data == nullptr && layout->num_elements() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("There is no memory (nullptr) for ", layout->ToString(), "."));
  }
  // No offset is added to an opaque handle.
  const int64_t below = IsAddressable(device.type) && data != nullptr ? -bytes.begin : 0;
  char* const lowest = static_cast<char*>(data) - below;
  return Tensor::Make(Storage::Adopt(lowest, bytes.size(), device, {}), below, dtype,
                      *std::move(layout), {.access = access});
}

void internal_tensor::SetRelease(const Tensor& tensor, Release release) {
  StorageAccess::SetRelease(*tensor.storage(), release);
}

absl::Status internal_tensor::CountError(int64_t num_values, const Tensor& tensor) {
  return absl::InvalidArgumentError(
      absl::StrCat("The vector has ", num_values, " elements, and the shape ",
                   ShapeToString(tensor.shape()), " has ", tensor.num_elements(), "."));
}

absl::Status Tensor::NotContiguousError() {
  return absl::FailedPreconditionError(
      "The tensor is not contiguous; use elements<T>(), or copy it with AsContiguous(tensor).");
}

absl::Status Tensor::OffsetOf(absl::Span<const int64_t> index, int64_t* offset) const {
  if (static_cast<int>(index.size()) != rank()) {
    return absl::InvalidArgumentError(absl::StrCat("The index ", ShapeToString(index), " has ",
                                                   index.size(), " numbers for a tensor with ",
                                                   rank(), " dimensions."));
  }
  *offset = 0;
  for (int dim = 0; dim < rank(); ++dim) {
    const int64_t size = layout_.shape(dim);
    const int64_t i = index[dim] < 0 ? index[dim] + size : index[dim];
    if (i < 0 || i >= size) {
      return absl::OutOfRangeError(absl::StrCat(
          "Index ", index[dim], " is out of range for dimension ", dim, " of size ", size, "."));
    }
    *offset += WrappingMultiply(i, layout_.stride(dim));
  }
  return absl::OkStatus();
}

absl::Status internal_tensor::NullTensorError() {
  return absl::FailedPreconditionError(
      "The tensor is null: it was default-constructed or moved from.");
}

absl::Status internal_tensor::NotOnHostError(Device device) {
  return absl::FailedPreconditionError(absl::StrCat(
      "The host can't reach memory on ", device.ToString(), "; copy it to the CPU first."));
}

void Tensor::DieOfNull(const char* function) {
  std::fprintf(stderr,
               "dovetail: Tensor::%s() was called on a null tensor, which was "
               "default-constructed or moved from; check is_null() first.\n",
               function);
  std::abort();
}

absl::Status Tensor::CheckAccess(DType wanted, size_t alignment, bool write) const {
  if (is_null()) return NullTensorError();
  if (wanted != dtype_) {
    return absl::FailedPreconditionError(
        absl::StrCat("The elements are ", dtype_.ToString(), ", not ", wanted.ToString(), "."));
  }
  if (!IsHostAccessible(device().type)) {
    return internal_tensor::NotOnHostError(device());
  }
  if (write && is_read_only()) {
    return absl::FailedPreconditionError(
        "The tensor is read-only; use data<const T>() (of a door, AsMap<const T>() and the like), or "
        "copy it first.");
  }
  if (num_elements() != 0 && reinterpret_cast<uintptr_t>(raw_data()) % alignment != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("Element 0 at ", absl::Hex(reinterpret_cast<uintptr_t>(raw_data())),
                     " is not aligned to ", alignment, " bytes; copy the tensor first."));
  }
  return absl::OkStatus();
}

TensorView Tensor::view() const {
  return {.data = raw_data(),
          .byte_offset = IsAddressable(device().type) ? 0 : byte_offset_,
          .device = device(),
          .dtype = dtype_,
          .access = access_,
          .packing = packing_,
          .shape = shape(),
          .strides = strides()};
}

absl::Status Tensor::MoveOrigin(int64_t offset) {
  const ElementPlace place = PlaceOf(offset, dtype_, packing_);
  if (place.bit != 0 && num_elements() != 0) [[unlikely]] {
    return absl::InvalidArgumentError(
        absl::StrCat("Element ", offset, " of a packed ", dtype_.ToString(),
                     " tensor starts inside a byte, where no view can start. Copy it first."));
  }
  byte_offset_ += place.byte;
  return absl::OkStatus();
}

template <typename MakeView>
absl::StatusOr<Tensor> Tensor::View(MakeView make_view) const {
  if (is_null()) return NullTensorError();
  LayoutView view;
  if (absl::Status s = make_view(layout_, &view); !s.ok()) return s;
  absl::StatusOr<Tensor> tensor(std::in_place, Tensor(storage_, byte_offset_, dtype_,
                                                      std::move(view.layout), {access_, packing_}));
  if (absl::Status s = tensor->MoveOrigin(view.offset); !s.ok()) tensor = std::move(s);
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Index(absl::Span<const IndexItem> items) const {
  return View(
      [&](const Layout& layout, LayoutView* view) { return dovetail::Index(layout, items, view); });
}

// Bypasses Index, because slices are frequent.
absl::StatusOr<Tensor> Tensor::Slice(int64_t dim, SliceSpec slice) const {
  if (is_null()) return NullTensorError();
  int d;
  if (absl::Status s = NormalizeDim(dim, rank(), &d); !s.ok()) return s;
  if (absl::Status s = CheckStep(slice); !s.ok()) return s;
  const auto [start, count] = ResolveSlice(slice, layout_.shape(d));
  absl::StatusOr<Tensor> part(std::in_place, *this);
  const int64_t offset = internal_layout::Narrow(&part->layout_, d, start, count, slice.step);
  if (absl::Status s = part->MoveOrigin(offset); !s.ok()) part = std::move(s);
  return part;
}

absl::StatusOr<Tensor> Tensor::Select(int64_t dim, int64_t index) const {
  if (is_null()) return NullTensorError();
  int d;
  if (absl::Status s = NormalizeDim(dim, rank(), &d); !s.ok()) return s;
  absl::InlinedVector<IndexItem, Layout::kInlineRank> items(d, IndexItem::Range({}));
  items.push_back(IndexItem::At(index));
  return Index(items);
}

absl::StatusOr<Tensor> Tensor::Permute(absl::Span<const int64_t> order) const {
  return View([&](const Layout& layout, LayoutView* view) {
    return dovetail::Permute(layout, order, view);
  });
}

absl::StatusOr<Tensor> Tensor::Transpose(int64_t dim0, int64_t dim1) const {
  if (is_null()) return NullTensorError();
  int a, b;
  if (absl::Status s = NormalizeDim(dim0, rank(), &a); !s.ok()) return s;
  if (absl::Status s = NormalizeDim(dim1, rank(), &b); !s.ok()) return s;
  absl::InlinedVector<int64_t, Layout::kInlineRank> order(rank());
  for (int i = 0; i < rank(); ++i) order[i] = i;
  std::swap(order[a], order[b]);
  return Permute(order);
}

absl::StatusOr<Tensor> Tensor::Reshape(absl::Span<const int64_t> shape) const {
  return View([&](const Layout& layout, LayoutView* view) {
    return dovetail::Reshape(layout, shape, view);
  });
}

absl::StatusOr<Tensor> Tensor::BroadcastTo(absl::Span<const int64_t> shape) const {
  absl::StatusOr<Tensor> result = View([&](const Layout& layout, LayoutView* view) {
    return dovetail::BroadcastTo(layout, shape, view);
  });
  if (result.ok()) result->access_ = Access::kReadOnly;
  return result;
}

Tensor Tensor::ReadOnly() const {
  Tensor result = *this;
  result.access_ = Access::kReadOnly;
  return result;
}

std::string Tensor::ToString() const {
  if (is_null()) return "null tensor";
  return absl::StrCat(is_read_only() ? "read-only " : "", dtype_.ToString(), " tensor of ",
                      layout_.ToString(), ", on ", device().ToString());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
