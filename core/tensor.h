// Tensor: typed, shaped access to a Storage.
//
//   absl::StatusOr<Tensor> x = Tensor::Empty({2, 3}, kFloat32);
//   absl::StatusOr<Tensor> row = x->Select(0, 1);                   // a view: shares the Storage
//   absl::StatusOr<float*> p = row->data<float>();                  // checked
//
// A value: a counted Storage, a DType, a Layout, the offset of element 0, and whether the elements
// may be written. Copying a Tensor copies no elements. Views share the Storage and may only narrow
// the access. Threads: different Tensors of one Storage may be used on different threads, and one
// Tensor may be read on several. Concurrent access to the elements is for the program to order.

#ifndef DOVETAIL_CORE_TENSOR_H_
#define DOVETAIL_CORE_TENSOR_H_

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/element_range.h"
#include "dovetail/core/index.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/range_or.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_tensor {
class TensorBuilder;
}  // namespace internal_tensor

class Tensor {
 public:
  // How the elements may be used and, if they do not fill whole bytes, how they are packed.
  struct Options {
    Access access = Access::kReadWrite;
    Packing packing = Packing::kPacked;
  };

  // A null tensor: no Storage, rank 0. A tensor that was moved from is null, too. Functions that
  // return a Status answer FailedPrecondition for a null tensor; those that need its memory
  // (device, view, raw_data, nbytes) end the program with a message. Its dtype and shape mean
  // nothing.
  Tensor() noexcept {}  // "= default" would zero all of it first
  bool is_null() const { return !storage_; }

  // New memory, uninitialised and row-major. On the host, padding bits of the last byte are 0.
  // InvalidArgument for a bad shape; the errors of Storage::Allocate for a device without a backend
  // or without memory.
  static absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype,
                                      Device device = Device::Cpu());

  // A tensor in `storage`, element 0 `byte_offset` bytes from its start. InvalidArgument when the
  // layout reaches outside the storage (of an opaque handle: beyond a 64-bit offset).
  static absl::StatusOr<Tensor> Make(StorageRef storage, int64_t byte_offset, DType dtype,
                                     Layout layout, Options options);

  // The program's own memory as a tensor, without a copy. InvalidArgument for a bad shape or bad
  // strides and for a shape that does not fit the memory. Nothing is taken then: the vector, array
  // or deleter is moved from only if there is a tensor.
  //
  //   Tensor a = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4}, {2, 2});
  //   Tensor b = *Tensor::Wrap(std::make_unique<int32_t[]>(6), {2, 3});
  //   Tensor c = *Tensor::Wrap(pixels, {480, 640, 3}, {1920, 3, 1}, Device::Cpu(),
  //                            [image] {});                   // keeps a shared_ptr until the end
  //
  // The shape must have exactly as many elements as the vector; an array must have at least as many
  // as the shape, which is not checked.
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Wrap(std::vector<T, A>&& values, absl::Span<const int64_t> shape);
  template <typename T>
  static absl::StatusOr<Tensor> Wrap(std::unique_ptr<T[]>&& values,
                                     absl::Span<const int64_t> shape);
  // `data` is element 0, `strides` are in elements. `deleter` is called once, with `data` or
  // without an argument, on whichever thread drops the last reference; it must not throw. The
  // tensor is read-only if T is const.
  template <typename T, typename Deleter>
  static absl::StatusOr<Tensor> Wrap(T* data, absl::Span<const int64_t> shape,
                                     absl::Span<const int64_t> strides, Device device,
                                     Deleter&& deleter);
  // Row-major memory of the CPU that `owner`, a shared pointer to whatever has it, keeps alive:
  //   Tensor d = *Tensor::Wrap(image->pixels(), {480, 640, 3}, image);
  template <typename T>
  static absl::StatusOr<Tensor> Wrap(T* data, absl::Span<const int64_t> shape,
                                     std::shared_ptr<const void> owner);
  // (Who keeps the memory? Move the vector, give an owner, or Borrow it.)
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Wrap(std::vector<T, A>& values,
                                     absl::Span<const int64_t> shape) = delete;
  template <typename T>
  static absl::StatusOr<Tensor> Wrap(T* data, absl::Span<const int64_t> shape) = delete;
  template <typename T>
  static absl::StatusOr<Tensor> Wrap(T* data, absl::Span<const int64_t> shape,
                                     std::nullptr_t) = delete;

  // Row-major memory of the CPU that outlives the tensor and all that will share it, in other
  // libraries too: nothing keeps it. Read-only if T, or the vector, is const.
  //   Tensor e = *Tensor::Borrow(values, {2, 2});
  template <typename T>
  static absl::StatusOr<Tensor> Borrow(T* data, absl::Span<const int64_t> shape);
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Borrow(std::vector<T, A>& values, absl::Span<const int64_t> shape);
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Borrow(const std::vector<T, A>& values,
                                       absl::Span<const int64_t> shape);
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Borrow(const std::vector<T, A>&& values,
                                       absl::Span<const int64_t> shape) = delete;  // it ends

  DType dtype() const { return dtype_; }
  Device device() const {
    CheckNotNull("device");
    return storage_->device();
  }
  Access access() const { return access_; }
  bool is_read_only() const { return access_ == Access::kReadOnly; }
  Packing packing() const { return packing_; }
  const Layout& layout() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return layout_; }
  int rank() const { return layout_.rank(); }
  absl::Span<const int64_t> shape() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return layout_.shape(); }
  absl::Span<const int64_t> strides() const ABSL_ATTRIBUTE_LIFETIME_BOUND {  // elements
    return layout_.strides();
  }
  int64_t num_elements() const { return layout_.num_elements(); }
  bool is_contiguous() const { return layout_.is_contiguous(); }
  const StorageRef& storage() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return storage_; }
  int64_t byte_offset() const { return byte_offset_; }  // of element 0 in the storage

  // The bytes that the elements take without gaps (packing.h).
  int64_t nbytes() const {
    CheckNotNull("nbytes");
    return BytesWithoutGaps(num_elements(), dtype_, packing_);
  }

  // The address of element 0; on devices that are not addressable, the opaque handle. May be
  // nullptr if there are no elements. Checks neither access nor alignment: data<T>() does.
  void* raw_data() const {
    CheckNotNull("raw_data");
    return RawData(storage_->device().type);
  }

  // Element 0 as a T*. T must be the C++ type of dtype(), the memory accessible to the host and
  // aligned for T, and the tensor writable unless T is const. FailedPrecondition says which of
  // these fails.
  template <typename T>
  absl::StatusOr<T*> data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::Status status = CheckAccess(dtype_of<T>, alignof(T), !std::is_const_v<T>);
    if (!status.ok()) return status;
    return static_cast<T*>(raw_data());
  }

  // All elements of a contiguous tensor. FailedPrecondition if it is not contiguous; otherwise the
  // errors of data<T>().
  template <typename T>
  RangeOr<absl::Span<T>> span() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::StatusOr<T*> first = data<T>();
    if (!first.ok()) return first.status();
    if (!is_contiguous()) return NotContiguousError();
    return absl::Span<T>(*first, static_cast<size_t>(num_elements()));
  }

  // The element at `index`, which has one number for each dimension; negative numbers count from
  // the end. OutOfRange if there is no such element, InvalidArgument if `index` has another length
  // than rank(); otherwise the errors of data<T>().
  template <typename T>
  absl::StatusOr<T*> at(absl::Span<const int64_t> index) const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::StatusOr<T*> first = data<T>();
    int64_t offset;
    if (first.ok()) {
      if (absl::Status s = OffsetOf(index, &offset); !s.ok()) return s;
      *first += offset;
    }
    return first;
  }

  // All elements in row-major order, for any strides. The range keeps the memory alive. The errors
  // of data<T>().
  //
  //   for (float value : *x.elements<const float>()) sum += value;
  template <typename T>
  RangeOr<ElementRange<T>> elements() const {
    absl::StatusOr<T*> first = data<T>();
    if (!first.ok()) return first.status();
    return ElementRange<T>(*first, layout_, storage_);
  }

  // A borrowed view: valid while this Tensor is alive and unchanged.
  TensorView view() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Views share the memory. Dimensions and indices may be negative, counting from the end;
  // OutOfRange if there is no such one. InvalidArgument for other bad arguments, FailedPrecondition
  // for a reshape that needs a copy. InvalidArgument if element 0 of the view would start inside a
  // byte (packed sub-byte types).
  absl::StatusOr<Tensor> Index(absl::Span<const IndexItem> items) const;
  absl::StatusOr<Tensor> Slice(int64_t dim, SliceSpec slice) const;
  absl::StatusOr<Tensor> Select(int64_t dim, int64_t index) const;
  absl::StatusOr<Tensor> Permute(absl::Span<const int64_t> order) const;
  absl::StatusOr<Tensor> Transpose(int64_t dim0, int64_t dim1) const;
  absl::StatusOr<Tensor> Reshape(absl::Span<const int64_t> shape) const;
  // The result is read-only, since its elements repeat.
  absl::StatusOr<Tensor> BroadcastTo(absl::Span<const int64_t> shape) const;
  // The same memory without write access.
  Tensor ReadOnly() const;

  // "float32 tensor of shape (2, 3), strides (3, 1), on cpu". FormatValues() of format_values.h has
  // the values, as Python prints them.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << t.ToString(); }

 private:
  friend class internal_tensor::TensorBuilder;
  // The packing is that of PackingOf.
  Tensor(StorageRef storage, int64_t byte_offset, DType dtype, Layout layout, Options options)
      : layout_(std::move(layout)),
        storage_(std::move(storage)),
        byte_offset_(byte_offset),
        dtype_(dtype),
        access_(options.access),
        packing_(options.packing) {}
  absl::Status CheckAccess(DType wanted, size_t alignment, bool write) const;
  static absl::Status NotContiguousError();
  absl::Status OffsetOf(absl::Span<const int64_t> index, int64_t* offset) const;
  [[noreturn, gnu::cold]] static void DieOfNull(const char* function);

  void CheckNotNull(const char* function) const {
    if (is_null()) [[unlikely]]
      DieOfNull(function);
  }
  void* RawData(DeviceType type) const {
    void* base = storage_->data();
    return IsAddressable(type) ? static_cast<char*>(base) + byte_offset_ : base;
  }
  // The part of this tensor that `make_view(layout, &layout_view)` selects, if its Status is OK.
  template <typename MakeView>
  absl::StatusOr<Tensor> View(MakeView make_view) const;
  // Moves element 0 by `offset` elements. InvalidArgument if it would start inside a byte.
  absl::Status MoveOrigin(int64_t offset);

  // First, because only its assignment can fail: the tensor then stays as it was.
  Layout layout_;
  StorageRef storage_;
  int64_t byte_offset_ = 0;
  DType dtype_;
  Access access_ = Access::kReadWrite;
  Packing packing_ = Packing::kPacked;
};

static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_copy_constructible_v<Tensor>);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#include "dovetail/core/internal/tensor_wrap.h"  // IWYU pragma: keep

#endif  // DOVETAIL_CORE_TENSOR_H_
