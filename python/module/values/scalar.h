// One element as a Python number, and back.
//
//   PyObject* x = ElementToPython(tensor.raw_data(), /*bit_offset=*/32, kFloat32);
//   alignas(16) char element[kMaxElementBytes] = {};
//   if (!ElementFromPython(value, kInt8, element)) return nullptr;
//
// Numbers are bool, int, float and complex, scalars of NumPy and other libraries, and tensors of
// one element. A float loses its fraction in an integer type, as in NumPy and torch. Nothing else
// is lost silently: OverflowError for a number out of range, ValueError for NaN in a type without
// it, TypeError for an object that is no number, an imaginary part in a real type, and elements
// that are vectors (lanes). All functions need the GIL and return nullptr (false) with an error
// set.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_SCALAR_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_SCALAR_H_

#include <Python.h>

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/element.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// The most bytes that one element with one lane takes.
inline constexpr int kMaxElementBytes = 16;

PyObject* ValueToPython(const ElementValue& value);

// With `to_float` an int beyond 64 bits becomes the nearest float.
bool ValueFromPython(PyObject* value, bool to_float, ElementValue* result);

// The element that starts `bit_offset` bits from `data`. The bytes must be there.
PyObject* ElementToPython(const void* data, int64_t bit_offset, DType dtype);

// WriteElement of core/internal/element.h, after a float for an integer type lost its fraction.
bool WriteValue(void* data, int64_t bit_offset, DType dtype, ElementValue value);
// The same, without Python's errors and without the GIL.
absl::Status TryWriteValue(void* data, int64_t bit_offset, DType dtype, ElementValue value);

// Writes the bytes of one element of `dtype` to `element`, which has room for kMaxElementBytes.
bool ElementFromPython(PyObject* value, DType dtype, void* element);

// Whether `value` is a bool, int, float or complex, or of a class that inherits from one.
inline bool IsPythonNumber(PyObject* value) {
  return PyFloat_Check(value) || PyLong_Check(value) || PyComplex_Check(value);
}

// Whether `value` has a protocol of numbers: __index__, __float__ or __complex__, and no __array__.
// False with an error set if a lookup raised one.
bool HasNumberProtocol(PyObject* value, bool* has);

// Whether elements of the type are numbers that can be read and written one by one.
bool CheckHasNumbers(DType dtype);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_SCALAR_H_
