// Tensor: typed, shaped access to a Storage.
//
//   absl::StatusOr<Tensor> x = Tensor::Empty({2, 3}, kFloat32);
//   absl::StatusOr<Tensor> row = x->Select(0, 1);                   // a view: shares the Storage
//   absl::StatusOr<float*> p = row->data<float>();                  // checked
//
// A value: a counted Storage, a DType, a Layout, where element 0 lies, and whether it may be
// written. Copying one copies no elements. Views share the Storage and may only narrow the access.
// Different Tensors of one Storage may be used on different threads; one Tensor may be read on
// several. What is done to the elements at the same time is the program's to order.

#ifndef DOVETAIL_CORE_TENSOR_H_
#define DOVETAIL_CORE_TENSOR_H_

#include <cstdint>
#include <memory>
#include <new>
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
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/core/views.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class TensorAssembly;

// FailedPrecondition: what functions that return a Status answer for a null tensor.
absl::Status NullTensorError();

namespace internal_tensor {
[[noreturn, gnu::cold]] void DieOfNullTensor(const char* function);
}  // namespace internal_tensor

class Tensor {
 public:
  // How the elements may be used and how they are packed.
  struct Options {
    Access access = Access::kReadWrite;
    Packing packing = Packing::kPacked;
  };

  // A null tensor: no Storage, rank 0. One that was moved from is null, too. Functions that return
  // a Status answer FailedPrecondition for it; those that need its memory (device, view, raw_data,
  // nbytes) end the program with a message. What it says of its type and shape means nothing.
  // (Not defaulted: Tensor() would then fill it all with zeros first.)
  Tensor() noexcept {}
  // What Empty and MakeEmpty begin with, who alone have a key: a null tensor whose layout is there
  // already, if it was found in few steps.
  class Key {
    friend class Tensor;
    friend absl::Status MakeEmpty(absl::Span<const int64_t>, DType, Device, Tensor*);
    Key() = default;
  };
  Tensor(Key, DType dtype, absl::Span<const int64_t> shape)
      : dtype_(dtype), layout_(Layout::InFewSteps(), shape) {}
  bool is_null() const { return !storage_; }

  // New memory, uninitialised, row-major; on the host the bits of the last byte that belong to no
  // element are 0. InvalidArgument for a bad shape; what Storage::Allocate
  // says for a device without backend or memory.
  static absl::StatusOr<Tensor> Empty(absl::Span<const int64_t> shape, DType dtype,
                                      Device device = Device::Cpu());

  // A tensor in `storage`, element 0 `byte_offset` bytes from its start. InvalidArgument when the
  // layout reaches outside the storage (of an opaque handle: beyond a 64-bit offset).
  static absl::StatusOr<Tensor> Make(StorageRef storage, int64_t byte_offset, DType dtype,
                                     Layout layout, Options options);

  // The same for a caller that has checked already.
  static Tensor MakeUnchecked(StorageRef storage, int64_t byte_offset, DType dtype, Layout layout,
                              Options options) {
    return Tensor(std::move(storage), byte_offset, dtype, std::move(layout), options);
  }

  // The program's own memory as a tensor, without a copy. InvalidArgument for a shape or strides
  // that no layout has, and for what does not fit the memory: nothing was taken then.
  //
  //   Tensor a = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4}, {2, 2});
  //   Tensor b = *Tensor::Wrap(std::make_unique<int32_t[]>(6), {2, 3});
  //   Tensor c = *Tensor::Wrap(pixels, {480, 640, 3}, {1920, 3, 1}, Device::Cpu(),
  //                            [image] {});                   // keeps a shared_ptr until the end
  //
  // Of a vector the shape has all elements. Of an array the caller knows that it has as many.
  template <typename T, typename A>
  static absl::StatusOr<Tensor> Wrap(std::vector<T, A>&& values, absl::Span<const int64_t> shape);
  template <typename T>
  static absl::StatusOr<Tensor> Wrap(std::unique_ptr<T[]> values, absl::Span<const int64_t> shape);
  // `data` is element 0, `strides` are in elements. `deleter` is called once, with `data` or with
  // nothing, on whichever thread drops the last reference; it must not throw. Read-only for a const
  // T.
  template <typename T, typename Deleter>
  static absl::StatusOr<Tensor> Wrap(T* data, absl::Span<const int64_t> shape,
                                     absl::Span<const int64_t> strides, Device device,
                                     Deleter deleter);

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

  // Bytes that the elements take without gaps (packing.h).
  int64_t nbytes() const {
    CheckNotNull("nbytes");
    return BytesWithoutGaps(num_elements(), dtype_, packing_);
  }

  // Where element 0 lies; on devices that are not addressable, the opaque handle. May be nullptr
  // where there are no elements. Says nothing of access or alignment: data<T>() does.
  void* raw_data() const { return raw_data(device().type); }
  // The same for a caller who has asked for the type of the tensor's device already.
  void* raw_data(DeviceType type) const {
    CheckNotNull("raw_data");
    void* base = storage_->data();
    return IsAddressable(type) ? static_cast<char*>(base) + byte_offset_ : base;
  }

  // Element 0 as a T*. T's DType must be the tensor's, the memory host-accessible and aligned for
  // T; a T that is not const needs write access. FailedPrecondition says which of these fails.
  template <typename T>
  absl::StatusOr<T*> data() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::Status status = CheckAccess(dtype_of<T>, alignof(T), !std::is_const_v<T>);
    if (!status.ok()) return status;
    return static_cast<T*>(raw_data());
  }

  // All elements of a row-major tensor without gaps. FailedPrecondition for any other, and as
  // data<T>() says.
  template <typename T>
  absl::StatusOr<absl::Span<T>> span() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::StatusOr<T*> first = data<T>();
    if (!first.ok()) return first.status();
    if (!is_contiguous()) return NotContiguousError();
    return absl::Span<T>(*first, static_cast<size_t>(num_elements()));
  }

  // The element at `index`, of one number a dimension; negative ones count from the end. OutOfRange
  // where there is no such element, InvalidArgument for another count of numbers, and as data<T>().
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

  // All elements in row-major order, whatever the strides are; as data<T>().
  //
  //   absl::StatusOr<ElementRange<const float>> elements = x.elements<const float>();
  //   for (float value : *elements) sum += value;
  template <typename T>
  absl::StatusOr<ElementRange<T>> elements() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    absl::StatusOr<T*> first = data<T>();
    if (!first.ok()) return first.status();
    return ElementRange<T>(*first, layout_);
  }

  // Borrows: valid while this Tensor is alive and unchanged.
  TensorView view() const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // Views; views.h tells the rules and errors. An offset that falls inside a byte (of a packed
  // sub-byte type) is InvalidArgument.
  absl::StatusOr<Tensor> Index(absl::Span<const IndexItem> items) const;
  absl::StatusOr<Tensor> Slice(int64_t dim, SliceSpec slice) const;
  absl::StatusOr<Tensor> Select(int64_t dim, int64_t index) const;
  absl::StatusOr<Tensor> Permute(absl::Span<const int64_t> order) const;
  absl::StatusOr<Tensor> Transpose(int64_t dim0, int64_t dim1) const;
  absl::StatusOr<Tensor> Reshape(absl::Span<const int64_t> shape) const;
  // Read-only, since elements repeat.
  absl::StatusOr<Tensor> BroadcastTo(absl::Span<const int64_t> shape) const;
  // The same memory, which may not be written through the result.
  Tensor ReadOnly() const;

  // "float32 tensor of shape (2, 3), strides (3, 1), on cpu": no values.
  std::string ToString() const;
  friend std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << t.ToString(); }

 private:
  friend class TensorAssembly;
  friend absl::Status MakeEmpty(absl::Span<const int64_t>, DType, Device, Tensor*);
  Tensor(StorageRef storage, int64_t byte_offset, DType dtype, Layout layout, Options options)
      : storage_(std::move(storage)),
        byte_offset_(byte_offset),
        dtype_(dtype),
        access_(options.access),
        packing_(options.packing),
        layout_(std::move(layout)) {}
  bool TakeKept(Device device);
  absl::Status CheckAccess(DType wanted, size_t alignment, bool write) const;
  static absl::Status NotContiguousError();
  absl::Status OffsetOf(absl::Span<const int64_t> index, int64_t* offset) const;
  // What every Wrap makes: over memory that nothing is called for yet. Null strides: row-major.
  static absl::StatusOr<Tensor> WrapUnowned(const void* data, DType dtype,
                                            absl::Span<const int64_t> shape,
                                            const absl::Span<const int64_t>* strides, Device device,
                                            Access access);
  // Moves `owner` into the release of the tensor's Storage. An error passes, and nothing is moved.
  template <typename Owner>
  static absl::StatusOr<Tensor> OwnedBy(Owner& owner, absl::StatusOr<Tensor> tensor);
  static absl::Status CountError(int64_t has, const Tensor& tensor);

  void CheckNotNull(const char* function) const {
    if (is_null()) [[unlikely]]
      internal_tensor::DieOfNullTensor(function);
  }
  // The part of this tensor that `make_view(layout, &layout_view)` selects, if its Status is OK.
  template <typename MakeView>
  absl::StatusOr<Tensor> View(MakeView make_view) const;
  // Element 0 is now where `offset` says, in elements. InvalidArgument inside a byte.
  absl::Status MoveOrigin(int64_t offset);

  StorageRef storage_;
  int64_t byte_offset_ = 0;
  DType dtype_;
  Access access_ = Access::kReadWrite;
  Packing packing_ = Packing::kPacked;
  Layout layout_;
};

// Puts a Tensor together where it stands, so that importers move no Layout: fill in layout(),
// check, then Finish. Until then the tensor is null.
class TensorAssembly {
 public:
  explicit TensorAssembly(Tensor* tensor) : tensor_(*tensor) { tensor_.storage_ = StorageRef(); }

  Layout& layout() { return tensor_.layout_; }

  // For a caller that has checked that the layout lies inside the storage.
  void Finish(StorageRef storage, int64_t byte_offset, DType dtype, Tensor::Options options) {
    new (&tensor_.storage_) StorageRef(std::move(storage));  // there is none yet
    tensor_.byte_offset_ = byte_offset;
    tensor_.dtype_ = dtype;
    tensor_.access_ = options.access;
    tensor_.packing_ = options.packing;
  }

 private:
  Tensor& tensor_;
};

template <typename Owner>
absl::StatusOr<Tensor> Tensor::OwnedBy(Owner& owner, absl::StatusOr<Tensor> tensor) {
  if (tensor.ok()) {
    tensor->storage_->SetRelease(
        {[](void* kept) { delete static_cast<Owner*>(kept); }, new Owner(std::move(owner))});
  }
  return tensor;
}

template <typename T, typename A>
absl::StatusOr<Tensor> Tensor::Wrap(std::vector<T, A>&& values, absl::Span<const int64_t> shape) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no elements that can be shared");
  absl::StatusOr<Tensor> tensor =
      WrapUnowned(values.data(), dtype_of<T>, shape, nullptr, Device::Cpu(), Access::kReadWrite);
  const auto count = static_cast<int64_t>(values.size());
  if (tensor.ok() && tensor->num_elements() != count) return CountError(count, *tensor);
  return OwnedBy(values, std::move(tensor));
}

template <typename T>
absl::StatusOr<Tensor> Tensor::Wrap(std::unique_ptr<T[]> values, absl::Span<const int64_t> shape) {
  return OwnedBy(values, WrapUnowned(values.get(), dtype_of<T>, shape, nullptr, Device::Cpu(),
                                     std::is_const_v<T> ? Access::kReadOnly : Access::kReadWrite));
}

template <typename T, typename Deleter>
absl::StatusOr<Tensor> Tensor::Wrap(T* data, absl::Span<const int64_t> shape,
                                    absl::Span<const int64_t> strides, Device device,
                                    Deleter deleter) {
  absl::StatusOr<Tensor> tensor =
      WrapUnowned(data, dtype_of<T>, shape, &strides, device,
                  std::is_const_v<T> ? Access::kReadOnly : Access::kReadWrite);
  if (!tensor.ok()) return tensor;
  struct Call {
    Deleter deleter;
    T* data;
  };
  constexpr auto kRelease = [](void* kept) {
    const std::unique_ptr<Call> call(static_cast<Call*>(kept));
    if constexpr (std::is_invocable_v<Deleter&, T*>) {
      call->deleter(call->data);
    } else {
      call->deleter();
    }
  };
  tensor->storage_->SetRelease({kRelease, new Call{std::move(deleter), data}});
  return tensor;
}

// Tensor::Empty into a tensor that is there already, for those who make very many. On an error the
// tensor is null.
absl::Status MakeEmpty(absl::Span<const int64_t> shape, DType dtype, Device device, Tensor* tensor);

static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_copy_constructible_v<Tensor>);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TENSOR_H_
