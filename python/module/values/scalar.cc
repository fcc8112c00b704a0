#include "dovetail/python/module/values/scalar.h"

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/numpy_abi.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/protocols/array_interface.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

struct ToPython {
  PyObject* operator()(bool v) const { return PyBool_FromLong(v); }
  PyObject* operator()(int64_t v) const { return PyLong_FromLongLong(v); }
  PyObject* operator()(uint64_t v) const { return PyLong_FromUnsignedLongLong(v); }
  PyObject* operator()(double v) const { return PyFloat_FromDouble(v); }
  PyObject* operator()(std::complex<double> v) const {
    return PyComplex_FromDoubles(v.real(), v.imag());
  }
};

bool TakeInt(PyObject* value, bool to_float, ElementValue* result) {
  int overflow;
  const int64_t small = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow == 0) return *result = small, true;
  if (overflow > 0) {
    const uint64_t large = PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred()) return *result = large, true;
    PyErr_Clear();
  }
  if (!to_float) {
    PyErr_Format(PyExc_OverflowError, "%R does not fit 64 bits", value);
    return false;
  }
  const double real = PyLong_AsDouble(value);
  return *result = real, real != -1.0 || !PyErr_Occurred();
}

bool TakeComplex(PyObject* value, ElementValue* result) {
  const Py_complex c = HangAtThreadEnd([&] { return PyComplex_AsCComplex(value); });
  if (c.real == -1.0 && PyErr_Occurred()) return false;
  *result = std::complex<double>(c.real, c.imag);
  return true;
}

bool TakePythonNumber(PyObject* value, bool to_float, ElementValue* result) {
  if (PyFloat_Check(value)) return *result = PyFloat_AS_DOUBLE(value), true;
  if (PyBool_Check(value)) return *result = value == Py_True, true;
  if (PyLong_Check(value)) return TakeInt(value, to_float, result);
  return TakeComplex(value, result);
}

bool TakeTensor(const Tensor& tensor, ElementValue* result) {
  if (tensor.num_elements() != 1) {
    PyErr_Format(PyExc_ValueError, "a tensor of %lld elements is not one number",
                 static_cast<long long>(tensor.num_elements()));
    return false;
  }
  if (!CheckHasNumbers(tensor.dtype())) return false;
  Tensor copy;
  const Tensor* const ready = ReadyHost(tensor, &copy);
  if (ready == nullptr) return false;
  *result = ReadElement(ready->raw_data(), 0, tensor.dtype());
  return true;
}

// What other libraries' scalars and 0-D arrays are as a Python number; invalid, without an error,
// for what has no such method.
nb::object CallItem(PyObject* value) {
  nb::object method;
  if (!FindAttribute(value, "item", &method) || !method.is_valid()) return {};
  return nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(method.ptr()); }));
}

bool HasFloat(PyObject* value) {
  const PyNumberMethods* slots = Py_TYPE(value)->tp_as_number;
  return slots != nullptr && slots->nb_float != nullptr;
}

bool FindComplex(PyObject* value, bool* has) {
  nb::object method;
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(value));
  if (!FindAttribute(type, "__complex__", &method)) return false;
  *has = method.is_valid();
  return true;
}

bool RefuseNumber(PyObject* value) {
  PyErr_Format(PyExc_TypeError, "expected a number (bool, int, float or complex), not %.200s",
               Py_TYPE(value)->tp_name);
  return false;
}

bool TakeForeign(PyObject* value, bool to_float, ElementValue* result) {
  if (IsNumPyTime(value)) {  // its item() may be an int
    return Raise(PyExc_TypeError,
                 absl::StrCat("A ", Py_TYPE(value)->tp_name, " scalar ", kNumPyTimeRemedy)),
           false;
  }
  nb::object item = CallItem(value);
  if (PyErr_Occurred()) return false;
  if (item.is_valid() && IsPythonNumber(item.ptr())) {
    return TakePythonNumber(item.ptr(), to_float, result);
  }
  if (item.is_valid() && Py_TYPE(item.ptr()) != Py_TYPE(value)) return RefuseNumber(value);
  if (PyIndex_Check(value)) {
    nb::object index = nb::steal(HangAtThreadEnd([&] { return PyNumber_Index(value); }));
    return index.is_valid() && TakeInt(index.ptr(), to_float, result);
  }
  if (HasFloat(value)) {
    const double real = HangAtThreadEnd([&] { return PyFloat_AsDouble(value); });
    return *result = real, real != -1.0 || !PyErr_Occurred();
  }
  bool is_complex;
  if (!FindComplex(value, &is_complex)) return false;
  return is_complex ? TakeComplex(value, result) : RefuseNumber(value);
}

bool IsInteger(DType dtype) {
  return dtype.kind == TypeKind::kInt || dtype.kind == TypeKind::kUInt ||
         dtype.kind == TypeKind::kHandle;
}

// The exception for a value that a type does not hold.
PyObject* RefusalType(DType dtype, const ElementValue& value) {
  if (std::holds_alternative<std::complex<double>>(value)) return PyExc_TypeError;
  const double* real = std::get_if<double>(&value);
  if (IsInteger(dtype) && (real == nullptr || !std::isnan(*real))) return PyExc_OverflowError;
  return PyExc_ValueError;
}

}  // namespace

bool CheckHasNumbers(DType dtype) {
  if (dtype.lanes == 1) return true;
  Raise(PyExc_TypeError, absl::StrCat("An element of ", dtype.ToString(), " is a vector of ",
                                      dtype.lanes, " lanes and no single number."));
  return false;
}

bool HasNumberProtocol(PyObject* value, bool* has) {
  // NumPy's scalars have __array__ too.
  *has = false;
  if (HasArrayMethod(value) && !numpy_scalar.IsBaseOf(Py_TYPE(value))) return true;
  *has = PyIndex_Check(value) || HasFloat(value);
  return *has || FindComplex(value, has);
}

PyObject* ValueToPython(const ElementValue& value) { return std::visit(ToPython(), value); }

bool ValueFromPython(PyObject* value, bool to_float, ElementValue* result) {
  if (IsPythonNumber(value)) return TakePythonNumber(value, to_float, result);
  if (IsTensor(value)) return TakeTensor(AsTensor(value), result);
  return TakeForeign(value, to_float, result);
}

PyObject* ElementToPython(const void* data, int64_t bit_offset, DType dtype) {
  if (!CheckHasNumbers(dtype)) return nullptr;
  return ValueToPython(ReadElement(data, bit_offset, dtype));
}

absl::Status TryWriteValue(void* data, int64_t bit_offset, DType dtype, ElementValue value) {
  if (double* real = std::get_if<double>(&value); real != nullptr && IsInteger(dtype)) {
    *real = std::trunc(*real);
  }
  return WriteElement(data, bit_offset, dtype, value);
}

bool WriteValue(void* data, int64_t bit_offset, DType dtype, ElementValue value) {
  const absl::Status status = TryWriteValue(data, bit_offset, dtype, value);
  if (!status.ok()) Raise(RefusalType(dtype, value), status.message());
  return status.ok();
}

bool ElementFromPython(PyObject* value, DType dtype, void* element) {
  if (!CheckHasNumbers(dtype)) return false;
  ElementValue number;
  if (!ValueFromPython(value, !IsInteger(dtype), &number)) return false;
  std::memset(element, 0, kMaxElementBytes);
  return WriteValue(element, 0, dtype, number);
}

}  // namespace dovetail::python
