#include "dovetail/python/src/numpy_in.h"

#include <bit>
#include <cstring>

#include "dovetail/python/src/numpy_abi.h"
#include "dovetail/python/src/owner.h"

namespace dovetail::python {
namespace {

constexpr char kOtherByteOrder = std::endian::native == std::endian::little ? '>' : '<';

// The type of exact arrays, once one was seen.
PyTypeObject* ndarray = nullptr;

bool IsArray(PyObject* x) {
  PyTypeObject* type = Py_TYPE(x);
  if (type == ndarray) return true;
  if (ndarray != nullptr || std::strcmp(type->tp_name, "numpy.ndarray") != 0) return false;
  const NumPyAbi* numpy = LoadedNumPy();
  if (numpy == nullptr || numpy->ndarray != type) return false;
  ndarray = type;
  return true;
}

// Strides in elements; false where they are no whole number of them. Item sizes are powers of two.
bool ElementStrides(const NumPyArray* array, int64_t itemsize, int64_t* strides) {
  const int shift = std::countr_zero(static_cast<uint64_t>(itemsize));
  int64_t misfit = 0;
  for (int i = 0; i < array->ndim; ++i) {
    misfit |= array->strides[i] & (itemsize - 1);
    strides[i] = array->strides[i] >> shift;
  }
  return misfit == 0;
}

}  // namespace

bool ImportNumPyArray(PyObject* x, Tensor* tensor) {
  if (!IsArray(x)) return false;
  const auto* array = reinterpret_cast<const NumPyArray*>(x);
  const DType* dtype = DTypeFromNumPy(array->descr->type_num);
  if (dtype == nullptr || array->descr->byte_order == kOtherByteOrder) return false;
  if (array->ndim > Layout::kMaxRank) return false;
  int64_t strides[Layout::kMaxRank];
  if (!ElementStrides(array, dtype->itemsize(), strides)) return false;

  TensorAssembly assembly(tensor);
  ByteRange range;
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  if (!assembly.layout()
           .Assign(array->ndim, reinterpret_cast<const int64_t*>(array->shape), strides)
           .ok() ||
      !BytesReached(assembly.layout(), *dtype, Packing::kPacked, &range).ok()) {
    return false;
  }
  StorageRef storage =
      Storage::Adopt(array->data + range.begin, range.size(), Device::Cpu(), ReleaseObject(x));
  Py_INCREF(x);
  assembly.Finish(
      std::move(storage), -range.begin, *dtype,
      {.access = array->flags & kNumPyWriteable ? Access::kReadWrite : Access::kReadOnly,
       .packing = Packing::kPacked});
  return true;
}

}  // namespace dovetail::python
