#include "dovetail/python/module/tensor/slots.h"

#include <string>

#include "dovetail/core/format_values.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/values.h"

namespace dovetail::python {

PyObject* TensorRepr(PyObject* self) {
  const Tensor tensor = AsTensor(self);
  const char* const mark = AsTensorObject(self)->requires_grad.load() ? "requires_grad=True" : "";
  const std::string text = WithoutGilIf(!IsHostAccessible(tensor.device().type),
                                        [&] { return FormatValues(tensor, mark); });
  if (PyErr_Occurred()) return nullptr;  // from a signal handler
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* TensorFormat(PyObject* self, PyObject* spec) {
  const Tensor& tensor = AsTensor(self);
  const bool has_spec = PyUnicode_Check(spec) && PyUnicode_GET_LENGTH(spec) > 0;
  if (tensor.rank() == 0 || (has_spec && tensor.num_elements() == 1)) {
    PyObject* number = TensorItemMethod(self, nullptr);
    if (number == nullptr) return nullptr;
    PyObject* text = PyObject_Format(number, spec);
    Py_DECREF(number);
    return text;
  }
  if (!has_spec) return TensorRepr(self);
  PyErr_Format(PyExc_TypeError,
               "the format %R is for one number, and the tensor has %lld; format the elements of "
               "tolist()",
               spec, static_cast<long long>(tensor.num_elements()));
  return nullptr;
}

}  // namespace dovetail::python
