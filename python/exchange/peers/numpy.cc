#include "dovetail/python/exchange/peers/numpy.h"

#include <nanobind/nanobind.h>

#include <bit>

#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/numpy_abi.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/peers/user_types.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kOtherByteOrder = std::endian::native == std::endian::little ? '>' : '<';

// Whether strides that lead to an element are no whole number of elements.
[[gnu::cold, gnu::noinline]] bool HasMisfit(const NumPyArray* array, int64_t itemsize) {
  bool has_misfit = false;
  for (int i = 0; i < array->ndim; ++i) {
    if (array->shape[i] == 0) return false;
    has_misfit |= array->shape[i] > 1 && (array->strides[i] & (itemsize - 1)) != 0;
  }
  return has_misfit;
}

// Strides in elements; false where they are no whole number of them. Item sizes are powers of two.
bool ElementStrides(const NumPyArray* array, int64_t itemsize, int64_t* strides) {
  const int shift = std::countr_zero(static_cast<uint64_t>(itemsize));
  int64_t misfit = 0;
  for (int i = 0; i < array->ndim; ++i) {
    misfit |= array->strides[i] & (itemsize - 1);
    strides[i] = array->strides[i] >> shift;
  }
  return misfit == 0 || !HasMisfit(array, itemsize);
}

// The type of an array that may be taken. nullptr for another ABI, type or byte order, and for a
// rank that a Tensor does not have.
[[gnu::always_inline]] inline const DType* FindDType(const NumPyArray* array) {
  if (LoadedNumPy() == nullptr || array->descr->byte_order == kOtherByteOrder ||
      array->ndim > Layout::kMaxRank) {
    return nullptr;
  }
  const DType* const own = DTypeFromNumPy(array->descr->type_num);
  return own != nullptr ? own : FindUserDType(array->descr);
}

// Whether a class has __dlpack__ from numpy.ndarray.
bool HasNumPysDLPack(PyTypeObject* type) {
  static constinit InternedName name("__dlpack__");
  nb::object own, of_numpy;
  if (!FindAttribute(reinterpret_cast<PyObject*>(type), name.get(), &own) ||
      !FindAttribute(reinterpret_cast<PyObject*>(LoadedNumPy()->ndarray), name.get(), &of_numpy)) {
    PyErr_Clear();
    return false;
  }
  return own.ptr() == of_numpy.ptr();
}

}  // namespace

bool ViewNumPyArray(PyObject* x, int64_t* strides, TensorView* view) {
  const auto* array = reinterpret_cast<const NumPyArray*>(x);
  const DType* dtype = FindDType(array);
  if (dtype == nullptr || !ElementStrides(array, dtype->itemsize(), strides)) return false;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  const auto rank = static_cast<size_t>(array->ndim);
  view->data = array->data;
  view->device = Device::Cpu();
  view->dtype = *dtype;
  view->access = array->flags & kNumPyWriteable ? Access::kReadWrite : Access::kReadOnly;
  view->packing = PackingOf(*dtype, Packing::kPadded);
  view->shape = {reinterpret_cast<const int64_t*>(array->shape), rank};
  view->strides = {strides, rank};
  return true;
}

bool ImportNumPyUserTypes(PyObject* x, Tensor* tensor) {
  if (LoadedNumPy() == nullptr || !numpy_ndarray.IsBaseOf(Py_TYPE(x))) return false;
  const auto* array = reinterpret_cast<const NumPyArray*>(x);
  return FindUserDType(array->descr) != nullptr && HasNumPysDLPack(Py_TYPE(x)) &&
         ImportNumPyArray(x, tensor);
}

bool ImportNumPyArray(PyObject* x, Tensor* tensor) {
  int64_t strides[Layout::kMaxRank];
  TensorView view;
  if (!ViewNumPyArray(x, strides, &view)) return false;
  internal_tensor::TensorBuilder builder(tensor);
  Layout* const layout = builder.layout();
  Extent extent;
  ByteRange range;
  if (!internal_layout::TryAssign(layout, view.rank(), view.shape.data(), strides, &extent) ||
      (layout->num_elements() != 0 && !BytesOfExtent(extent, view.dtype, view.packing, &range))) {
    return false;
  }
  StorageRef storage = internal_storage::StorageAccess::Adopt(
      static_cast<char*>(view.data) + range.begin, range.size(), view.device, ReleaseObject(x));
  Py_INCREF(x);
  builder.Finish(std::move(storage), -range.begin, view.dtype,
                 {.access = view.access, .packing = view.packing});
  return true;
}

ExchangeResult BorrowNumPyArray(PyObject* x, DovetailBorrowed* borrowed) {
  const auto* array = reinterpret_cast<const NumPyArray*>(x);
  const DType* dtype = FindDType(array);
  if (dtype == nullptr || !ElementStrides(array, dtype->itemsize(), borrowed->strides)) {
    return ExchangeResult::kNotTaken;
  }
  for (int i = 0; i < array->ndim; ++i) borrowed->shape[i] = array->shape[i];
  borrowed->tensor = {.data = array->data,
                      .device = {kDLCPU, 0},
                      .ndim = array->ndim,
                      .dtype = ToDLDataType(*dtype),
                      .shape = borrowed->shape,
                      .strides = borrowed->strides,
                      .byte_offset = 0};
  borrowed->flags = (array->flags & kNumPyWriteable ? 0 : DLPACK_FLAG_BITMASK_READ_ONLY) |
                    (dtype->bits < 8 ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0);
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
  return ExchangeResult::kDone;
}

bool GetNumPyBytes(PyObject* x, NumPyBytes* bytes) {
  if (LoadedNumPy() == nullptr) return false;
  const auto* array = reinterpret_cast<const NumPyArray*>(x);
  const DType* dtype = DTypeFromNumPy(array->descr->type_num);
  if (dtype == nullptr) dtype = FindUserDType(array->descr);
  if (dtype == nullptr || (array->flags & kNumPyRowMajor) == 0 ||
      (array->flags & kNumPyWarnOnWrite) != 0) {
    return false;
  }
  int64_t nbytes = dtype->itemsize();
  for (int i = 0; i < array->ndim; ++i) nbytes *= array->shape[i];
  *bytes = {array->data, nbytes,
            array->flags & kNumPyWriteable ? Access::kReadWrite : Access::kReadOnly};
  return true;
}

// An array whose owner calls resize(refcheck=False) loses its memory, with or without a buffer.
bool HoldNumPyBytes(PyObject* x, HeldBytes* bytes) {
  NumPyBytes array;
  if (!GetNumPyBytes(x, &array)) return HoldBufferBytes(x, bytes);
  *bytes = {array.data, array.nbytes, array.access, ReleaseObject(Py_NewRef(x))};
  return true;
}

namespace {

// NumPy takes no null pointer for an array without elements.
char no_elements[16];

}  // namespace

PyObject* MakeNumPyArray(const TensorView& view, PyObject* owner) {
  const NumPyAbi* numpy = LoadedNumPy();
  const int type_num = NumPyFromDType(view.dtype);
  if (numpy == nullptr || type_num < 0) return nullptr;
  const int64_t itemsize = view.dtype.itemsize();
  Py_ssize_t strides[Layout::kMaxRank];
  for (int i = 0; i < view.rank(); ++i) strides[i] = WrappingMultiply(view.strides[i], itemsize);
  PyObject* descr = NewDescr(*numpy, type_num);
  if (descr == nullptr) return nullptr;
  PyObject* array = numpy->new_from_descr(
      numpy->ndarray, descr, view.rank(), reinterpret_cast<const Py_ssize_t*>(view.shape.data()),
      strides, view.data != nullptr ? view.data : no_elements,
      view.access == Access::kReadOnly ? 0 : kNumPyWriteable, nullptr);
  if (array == nullptr) return nullptr;
  if (numpy->set_base_object(array, Py_NewRef(owner)) != 0) {
    Py_DECREF(array);
    return nullptr;
  }
  return array;
}

}  // namespace dovetail::python
