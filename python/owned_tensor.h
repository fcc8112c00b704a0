// OwnedTensor: a tensor that a C++ function makes, for its result.
//
//   dovetail::OwnedTensor Doubled(dovetail::Arg<const float, dovetail::Contiguous> x) {
//     dovetail::OwnedTensor y = dovetail::EmptyLike(x);
//     for (int64_t i = 0; i < x.size(); ++i) y.data<float>()[i] = 2 * x[i];
//     return y;                                          // torch in, torch out
//   }
//
// Movable; owns its memory, as a DLManagedTensorVersioned. The functions that make one return a
// null OwnedTensor where they fail, with a Python error set. With the casters of nanobind or
// pybind11, dovetail::EmptyLike(x) and dovetail::Empty<float>(sizes) throw that error instead.
// Empty, EmptyLike and Wrap may run
// without the GIL, on the thread that released it, and take it while they need it. FromPython and
// ToPython need the GIL; everything else does not. In kernels (dovetail/kernels.h) all that fail
// throw a C++ exception, and there is no FromPython and no ToPython. C++17, no abseil.

#ifndef DOVETAIL_PYTHON_OWNED_TENSOR_H_
#define DOVETAIL_PYTHON_OWNED_TENSOR_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dovetail/python/arg.h"
#ifdef DOVETAIL_WITHOUT_PYTHON
#include "dovetail/python/kernels/make_tensor.h"
#else
#include "dovetail/python/capi.h"
#endif

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

#ifndef DOVETAIL_WITHOUT_PYTHON
// Holds the GIL, also where the thread released it.
class HeldGil {
 public:
  HeldGil() : is_taken_(PyGILState_Check() == 0) {
    if (is_taken_) state_ = PyGILState_Ensure();
  }
  ~HeldGil() {
    if (is_taken_) PyGILState_Release(state_);
  }
  HeldGil(const HeldGil&) = delete;
  HeldGil& operator=(const HeldGil&) = delete;

 private:
  const bool is_taken_;
  PyGILState_STATE state_ = PyGILState_LOCKED;
};

// Throws the Python error that is set, as the binding library at hand does: by the first of the
// caster headers that a program includes. T makes the call dependent, so that it is looked up then.
template <typename T>
struct SetError;
template <typename T>
struct AlwaysVoid {
  using type = void;
};
template <typename T>
[[noreturn]] void ThrowSetError() {
  SetError<typename AlwaysVoid<T>::type>::Throw();
}
#endif

}  // namespace internal_arg

class OwnedTensor {
 public:
  OwnedTensor() = default;
  // Takes ownership.
  explicit OwnedTensor(DLManagedTensorVersioned* managed) : managed_(managed) {}
  ~OwnedTensor() { Reset(nullptr); }
  OwnedTensor(OwnedTensor&& other) noexcept : managed_(other.release()) {}
  OwnedTensor& operator=(OwnedTensor&& other) noexcept {
    if (this != &other) Reset(other.release());
    return *this;
  }

  // A new tensor, row-major and not initialised. On a GPU, its memory is there; the work that fills
  // it goes to the stream of the argument that the result is made like.
  static OwnedTensor Empty(const int64_t* shape, int32_t ndim, DLDataType dtype,
                           DLDevice device = {kDLCPU, 0}) {
#ifdef DOVETAIL_WITHOUT_PYTHON
    return OwnedTensor(internal_kernels::MakeTensor(dtype, device, ndim, shape));
#else
    const internal_arg::HeldGil gil;
    DLManagedTensorVersioned* managed = nullptr;
    if (Dovetail_Empty(dtype, device, ndim, shape, &managed) != 0) return OwnedTensor();
    return OwnedTensor(managed);
#endif
  }
  template <typename T>
  static OwnedTensor Empty(std::initializer_list<int64_t> shape, DLDevice device = {kDLCPU, 0}) {
    return Empty(shape.begin(), static_cast<int32_t>(shape.size()), internal_arg::TypeOf<T>(),
                 device);
  }
  // Of the shape, the dtype and the device of an argument.
  template <typename T, typename... Rules>
  static OwnedTensor EmptyLike(const Arg<T, Rules...>& like) {
    return Empty(like.shape(), like.ndim(), like.dtype(), like.device());
  }

  // Takes over the elements of a vector: row-major, of the given shape. ValueError if the shape has
  // another number of elements.
  template <typename T>
  static OwnedTensor Wrap(std::vector<T>&& values, std::vector<int64_t> shape);

#ifndef DOVETAIL_WITHOUT_PYTHON
  // Shares the memory of any tensor object beyond the call.
  static OwnedTensor FromPython(PyObject* object) {
    DLManagedTensorVersioned* managed = nullptr;
    if (Dovetail_FromPython(object, &managed) != 0) return OwnedTensor();
    return OwnedTensor(managed);
  }
#endif

  explicit operator bool() const { return managed_ != nullptr; }

  // The members from here to size() are of a tensor that is not null.

  // Element 0. The type T is not checked. Throws std::runtime_error for read-only memory, such as
  // JAX's, if T is not const; ends the program if it was compiled without exceptions.
  template <typename T>
  T* data() const {
    if (!std::is_const<T>::value && is_read_only()) RefuseWrite();
    const DLTensor& tensor = managed_->dl_tensor;
    return reinterpret_cast<T*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
  }
  bool is_read_only() const { return (managed_->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }
  // For functions that take a DLTensor. Its data must not be written if the tensor is read-only.
  const DLTensor& dl_tensor() const { return managed_->dl_tensor; }
  int ndim() const { return managed_->dl_tensor.ndim; }
  int64_t shape(int i) const { return managed_->dl_tensor.shape[i]; }
  int64_t size() const {
    int64_t size = 1;
    for (int i = 0; i < ndim(); ++i) size *= shape(i);
    return size;
  }

  // The managed tensor, which the caller owns from now on. This one becomes null.
  DLManagedTensorVersioned* release() { return std::exchange(managed_, nullptr); }

#ifndef DOVETAIL_WITHOUT_PYTHON
  // A new Python object over the memory, of the class of `like` (Dovetail_ToPython()). This tensor
  // becomes null, in failure too. Needs the GIL.
  PyObject* ToPython(PyObject* like) && { return Dovetail_ToPython(release(), like); }
#endif

 private:
  [[noreturn]] static void RefuseWrite() {
    constexpr char kReason[] = "the function writes to a tensor that is read-only: pass a copy";
#ifdef __cpp_exceptions
    throw std::runtime_error(kReason);
#else
    std::fprintf(stderr, "%s\n", kReason);
    std::abort();
#endif
  }
  void Reset(DLManagedTensorVersioned* managed) {
    DLManagedTensorVersioned* const old = std::exchange(managed_, managed);
    if (old != nullptr && old->deleter != nullptr) old->deleter(old);
  }

  DLManagedTensorVersioned* managed_ = nullptr;
};

// OwnedTensor::Empty() and EmptyLike() that throw the Python error. The sizes are anything with
// begin() and end(): Empty<float>({2, 3}), Empty<T>(x.leading_shape()).
template <typename T, typename Sizes = std::initializer_list<int64_t>>
OwnedTensor Empty(const Sizes& sizes, DLDevice device = {kDLCPU, 0}) {
  const std::vector<int64_t> shape(sizes.begin(), sizes.end());
  OwnedTensor made = OwnedTensor::Empty(shape.data(), static_cast<int32_t>(shape.size()),
                                        internal_arg::TypeOf<T>(), device);
#ifndef DOVETAIL_WITHOUT_PYTHON
  if (!made) internal_arg::ThrowSetError<T>();
#endif
  return made;
}
template <typename T, typename... Rules>
OwnedTensor EmptyLike(const Arg<T, Rules...>& like) {
  OwnedTensor made = OwnedTensor::EmptyLike(like);
#ifndef DOVETAIL_WITHOUT_PYTHON
  if (!made) internal_arg::ThrowSetError<T>();
#endif
  return made;
}

namespace internal_arg {

// A vector and its description, until the deleter runs.
template <typename T>
struct WrappedVector {
  DLManagedTensorVersioned managed{};
  std::vector<T> values;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

}  // namespace internal_arg

template <typename T>
OwnedTensor OwnedTensor::Wrap(std::vector<T>&& values, std::vector<int64_t> shape) {
  auto owner = std::make_unique<internal_arg::WrappedVector<T>>();
  owner->strides.resize(shape.size());
  int64_t count = 1;
  bool is_valid = true;
  for (size_t i = shape.size(); i > 0; --i) {
    owner->strides[i - 1] = count;
    is_valid =
        is_valid && shape[i - 1] >= 0 && !__builtin_mul_overflow(count, shape[i - 1], &count);
  }
  if (!is_valid || count != static_cast<int64_t>(values.size())) {
#ifdef DOVETAIL_WITHOUT_PYTHON
    throw std::invalid_argument("a vector of " + std::to_string(values.size()) +
                                " elements can't have that shape");
#else
    const internal_arg::HeldGil gil;
    PyErr_Format(PyExc_ValueError, "a vector of %zu elements can't have a shape of %lld",
                 values.size(), static_cast<long long>(count));
    return OwnedTensor();
#endif
  }
  owner->values = std::move(values);
  owner->shape = std::move(shape);
  DLManagedTensorVersioned& managed = owner->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = owner.get();
  managed.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<internal_arg::WrappedVector<T>*>(self->manager_ctx);
  };
  managed.dl_tensor.data = owner->values.data();
  managed.dl_tensor.device = {kDLCPU, 0};
  managed.dl_tensor.ndim = static_cast<int32_t>(owner->shape.size());
  managed.dl_tensor.dtype = internal_arg::TypeOf<T>();
  managed.dl_tensor.shape = owner->shape.data();
  managed.dl_tensor.strides = owner->strides.data();
  return OwnedTensor(&owner.release()->managed);
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_OWNED_TENSOR_H_
