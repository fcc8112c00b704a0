#include <array>
#include <cstddef>
#include <string>

#include "dovetail/core/format_values.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"
#include "dovetail/python/module/tensor/slots.h"
#include "dovetail/python/module/values/values.h"

namespace dovetail::python {
namespace {

PyObject* Shape(PyObject* self, void*) { return ShapeToPython(AsTensor(self).shape()); }
PyObject* Strides(PyObject* self, void*) { return ShapeToPython(AsTensor(self).strides()); }
PyObject* DTypeOf(PyObject* self, void*) { return DTypeToPython(AsTensor(self).dtype()); }
PyObject* DeviceOf(PyObject* self, void*) { return DeviceToPython(AsTensor(self).device()); }
PyObject* NDim(PyObject* self, void*) { return PyLong_FromLong(AsTensor(self).rank()); }
PyObject* Size(PyObject* self, void*) { return PyLong_FromLongLong(AsTensor(self).num_elements()); }
PyObject* ItemSize(PyObject* self, void*) {
  return PyLong_FromLongLong(AsTensor(self).dtype().itemsize());
}
PyObject* NBytes(PyObject* self, void*) { return PyLong_FromLongLong(AsTensor(self).nbytes()); }
PyObject* ReadOnly(PyObject* self, void*) { return PyBool_FromLong(AsTensor(self).is_read_only()); }
PyObject* RequiresGrad(PyObject* self, void*) {
  return PyBool_FromLong(AsTensorObject(self)->requires_grad.load());
}
PyObject* Transposed(PyObject* self, void*) { return ReverseDims(self); }
PyObject* MatricesTransposed(PyObject* self, void*) { return MatrixTransposed(self); }
PyObject* OnCuda(PyObject* self, void*) { return IsCuda(self); }

int SetRequiresGrad(PyObject* self, PyObject* value, void*) {
  if (value == nullptr || !PyBool_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "requires_grad must be True or False");
    return -1;
  }
  return MarkRequiresGrad(self, value == Py_True) ? 0 : -1;
}

}  // namespace

PyGetSetDef tensor_attributes[] = {
    {"shape", &Guard<&Shape, PyObject*, void*>, nullptr,
     "The sizes of the dimensions, a tuple of ints.", nullptr},
    {"strides", &Guard<&Strides, PyObject*, void*>, nullptr,
     "How far apart neighbours in each dimension are, a tuple of ints, in elements.", nullptr},
    {"dtype", &Guard<&DTypeOf, PyObject*, void*>, nullptr, "The type of the elements, a DType.",
     nullptr},
    {"device", &Guard<&DeviceOf, PyObject*, void*>, nullptr, "Where the memory lies, a Device.",
     nullptr},
    {"ndim", &Guard<&NDim, PyObject*, void*>, nullptr, "The number of dimensions.", nullptr},
    {"size", &Guard<&Size, PyObject*, void*>, nullptr, "The number of elements.", nullptr},
    {"itemsize", &Guard<&ItemSize, PyObject*, void*>, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", &Guard<&NBytes, PyObject*, void*>, nullptr,
     "Bytes that the elements take without gaps.", nullptr},
    {"readonly", &Guard<&ReadOnly, PyObject*, void*>, nullptr,
     "Whether the tensor may not be written.", nullptr},
    {"requires_grad", &Guard<&RequiresGrad, PyObject*, void*>,
     &Guard<&SetRequiresGrad, PyObject*, PyObject*, void*>,
     "A mark for autograd; a marked tensor is not exported (see detach()).", nullptr},
    {"T", &Guard<&Transposed, PyObject*, void*>, nullptr,
     "A view with the dimensions in reverse order.", nullptr},
    {"mT", &Guard<&MatricesTransposed, PyObject*, void*>, nullptr,
     "A view with the last two dimensions exchanged.", nullptr},
    {"is_cuda", &Guard<&OnCuda, PyObject*, void*>, nullptr,
     "Whether the memory is a CUDA device's.", nullptr},
    {"__array_interface__", &Guard<&TensorArrayInterface, PyObject*, void*>, nullptr,
     "NumPy's array interface, version 3.", nullptr},
    {"__cuda_array_interface__", &Guard<&TensorCudaArrayInterface, PyObject*, void*>, nullptr,
     "The CUDA Array Interface, version 3; absent unless the memory is a GPU's.", nullptr},
    {"__sycl_usm_array_interface__", &Guard<&TensorUsmArrayInterface, PyObject*, void*>, nullptr,
     "SYCL's USM array interface, version 1; absent unless the memory is a oneAPI device's.",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

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

namespace {

// Of tensors of NumPy or PyTorch, those methods that one would try first.
constexpr const char* kNames[] = {
    "abs",    "add",  "all",    "amax", "amin",    "any",  "argmax", "argmin", "argsort",
    "clamp",  "clip", "cumsum", "dot",  "exp",     "log",  "matmul", "max",    "mean",
    "median", "min",  "mul",    "norm", "nonzero", "prod", "round",  "sort",   "sqrt",
    "std",    "sub",  "sum",    "topk", "trace",   "var",
};
constexpr size_t kCount = sizeof kNames / sizeof kNames[0];

PyObject* Refuse(PyObject*, void* name) {
  PyErr_Format(PyExc_AttributeError,
               "dovetail.Tensor has no %s(): it computes nothing; t.numpy() or "
               "dovetail.convert(t, torch.Tensor) shares its memory with a library that does",
               static_cast<const char*>(name));
  return nullptr;
}

}  // namespace

bool AddMissingMethods(PyTypeObject* type) {
  static std::array<PyGetSetDef, kCount> definitions;
  for (size_t i = 0; i < kCount; ++i) {
    definitions[i] = {kNames[i], &Refuse, nullptr, "Not there: it raises AttributeError.",
                      const_cast<char*>(kNames[i])};
    PyObject* property = PyDescr_NewGetSet(type, &definitions[i]);
    if (property == nullptr) return false;
    const int failed = PyDict_SetItemString(type->tp_dict, kNames[i], property);
    Py_DECREF(property);
    if (failed != 0) return false;
  }
  PyType_Modified(type);
  return true;
}

namespace {

// What `type.__dir__(x)` gives, without the names.
PyObject* DirOf(PyObject* x, PyTypeObject* type) {
  PyObject* names = PyObject_CallMethod(reinterpret_cast<PyObject*>(type), "__dir__", "O", x);
  for (size_t i = 0; names != nullptr && i < kCount; ++i) {
    PyObject* none = PyObject_CallMethod(names, "remove", "s", kNames[i]);
    if (none == nullptr && !PyErr_ExceptionMatches(PyExc_ValueError)) Py_CLEAR(names);
    if (names != nullptr) PyErr_Clear();  // another class of TensorType, which has no such name
    Py_XDECREF(none);
  }
  return names;
}

PyObject* DirOfClass(PyObject* type, PyObject*) { return DirOf(type, &PyType_Type); }

PyMethodDef class_methods[] = {
    {"__dir__", &Guard<&DirOfClass, PyObject*, PyObject*>, METH_NOARGS, nullptr},
    {},
};

PyTypeObject tensor_class_type = {PyVarObject_HEAD_INIT(nullptr, 0)};

}  // namespace

PyObject* TensorDir(PyObject* self, PyObject*) { return DirOf(self, &PyBaseObject_Type); }

bool SetTensorClass(PyTypeObject* type) {
  tensor_class_type.tp_name = "dovetail.TensorType";
  tensor_class_type.tp_base = &PyType_Type;
  tensor_class_type.tp_flags = Py_TPFLAGS_DEFAULT;
  tensor_class_type.tp_methods = class_methods;
  if (PyType_Ready(&tensor_class_type) != 0) return false;
  Py_SET_TYPE(reinterpret_cast<PyObject*>(type), &tensor_class_type);
  return true;
}

}  // namespace dovetail::python
