// NumPy's binary interface, declared here without NumPy's headers. Neither the build nor the wheel
// depends on NumPy, and one build serves every version.
//
//   const NumPyAbi* numpy = LoadedNumPy();       // nullptr unless the program has imported NumPy
//   if (numpy != nullptr && Py_TYPE(x) == numpy->ndarray) ...
//
// The layout of arrays and the prefix of dtypes are the same in NumPy 1.7 to 2.x, and the indices
// in the table of functions never change. For a NumPy of another ABI the result is nullptr, and its
// arrays are imported by protocols. Sources: numpy/ndarraytypes.h, numpy/__multiarray_api.h. Needs
// the GIL.
//
// NumPy's scalars of dates and durations. Their buffer is 8 bytes without a type, so that they have
// to be told from bytes by their class.
//
//   if (IsNumPyTime(x)) return RaiseExchange(absl::StrCat("x ", kNumPyTimeRemedy));
//
// Needs the GIL. No error is left set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_NUMPY_ABI_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_NUMPY_ABI_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/dtype.h"

namespace dovetail::python {

// The fields of a PyArray_Descr that all versions share.
struct NumPyDescr {
  PyObject_HEAD PyTypeObject* scalar_type;
  char kind;
  char type;
  char byte_order;  // '=' native, '|' not applicable, '<', '>'
  char former_flags;
  int type_num;
};

// PyArrayObject_fields.
struct NumPyArray {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* shape;    // elements
  Py_ssize_t* strides;  // bytes
  PyObject* base;
  NumPyDescr* descr;
  int flags;
};
inline constexpr int kNumPyRowMajor = 0x0001;
inline constexpr int kNumPyWriteable = 0x0400;
inline constexpr int kNumPyWarnOnWrite = INT32_MIN;  // the highest bit

struct NumPyAbi {
  PyTypeObject* ndarray;
  PyObject* (*descr_from_type)(int type_num);
  // Steals `descr`; shape in elements, strides in bytes.
  PyObject* (*new_from_descr)(PyTypeObject* type, PyObject* descr, int ndim,
                              const Py_ssize_t* shape, const Py_ssize_t* strides, void* data,
                              int flags, PyObject* object);
  // Steals `base`, in failure too.
  int (*set_base_object)(PyObject* array, PyObject* base);
};

// The PyArray_Descr of a type number: a new reference, or nullptr with an error set.
PyObject* NewDescr(const NumPyAbi& numpy, int type_num);

// Looks for NumPy among the imported modules, and remembers it. nullptr if NumPy was not imported
// or has another ABI. No error is left set.
const NumPyAbi* LoadedNumPy();

// The DType of a type number of NumPy's own, or nullptr (user_types.h has those of others).
const DType* DTypeFromNumPy(int type_num);
// The type number to export a DType as, or −1.
int NumPyFromDType(DType dtype);

// Whether `x` is a numpy.datetime64 or a numpy.timedelta64, by its class: the buffer of such a
// scalar is 8 bytes without a type. No error is left set.
bool IsNumPyTime(PyObject* x);

// Follows "A numpy.datetime64 ".
inline constexpr char kNumPyTimeRemedy[] =
    "counts units of time, and tensors have no such type; pass the count and keep the unit, as in "
    "x.astype(\"int64\").";

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_NUMPY_ABI_H_
