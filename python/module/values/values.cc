#include "dovetail/python/module/values/values.h"

#include "dovetail/core/packing.h"
#include "dovetail/python/exchange/lifetime/host_ready.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/module/tensor/tensor_object.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

// Makes the nested lists of one tensor.
class Lister {
 public:
  explicit Lister(const Tensor& tensor)
      : tensor_(tensor), step_(StepBits(tensor.dtype(), tensor.packing())) {}

  PyObject* List() const { return ListFrom(0, 0); }

 private:
  PyObject* ListFrom(int dim, int64_t bit) const {
    if (dim == tensor_.rank()) {
      return ValueToPython(ReadElement(tensor_.raw_data(), bit, tensor_.dtype()));
    }
    const int64_t size = tensor_.layout().shape(dim);
    PyObject* list = PyList_New(size);
    if (list == nullptr) return nullptr;
    // With no elements the strides mean nothing, and no element is read either.
    const int64_t step = WrappingMultiply(tensor_.layout().stride(dim), step_);
    for (int64_t i = 0; i < size; ++i) {
      PyObject* item = ListFrom(dim + 1, bit + WrappingMultiply(i, step));
      if (item == nullptr) {
        Py_DECREF(list);
        return nullptr;
      }
      PyList_SET_ITEM(list, i, item);
    }
    return list;
  }

  const Tensor& tensor_;
  const int64_t step_;
};

// The only element.
bool ReadOne(PyObject* self, const char* what, ElementValue* value) {
  const Tensor& tensor = AsTensor(self);
  if (tensor.num_elements() != 1) {
    PyErr_Format(PyExc_ValueError, "%s needs a tensor of one element; this one has %lld", what,
                 static_cast<long long>(tensor.num_elements()));
    return false;
  }
  if (!CheckHasNumbers(tensor.dtype())) return false;
  Tensor copy;
  const Tensor* const ready = ReadyHost(tensor, &copy);
  if (ready == nullptr) return false;
  *value = ReadElement(ready->raw_data(), 0, tensor.dtype());
  return true;
}

std::nullptr_t RefuseComplex(const char* what) {
  PyErr_Format(PyExc_TypeError, "%s takes no complex number; use complex(), or item().real", what);
  return nullptr;
}

}  // namespace

PyObject* TensorToList(PyObject* self, PyObject*) {
  const Tensor& tensor = AsTensor(self);
  if (!CheckHasNumbers(tensor.dtype())) return nullptr;
  Tensor copy;
  const Tensor* const ready = ReadyHost(tensor, &copy);
  return ready == nullptr ? nullptr : Lister(*ready).List();
}

PyObject* TensorItemMethod(PyObject* self, PyObject*) {
  ElementValue value;
  return ReadOne(self, "item()", &value) ? ValueToPython(value) : nullptr;
}

int TensorBool(PyObject* self) {
  const int64_t count = AsTensor(self).num_elements();
  if (count != 1) {
    PyErr_Format(PyExc_ValueError,
                 "the truth of a tensor with %s is ambiguous; ask len(t) or t.tolist()",
                 count == 0 ? "no elements" : "more than one element");
    return -1;
  }
  ElementValue value;
  if (!ReadOne(self, "bool()", &value)) return -1;
  return std::visit([](auto v) { return v != decltype(v){}; }, value);
}

PyObject* TensorInt(PyObject* self) {
  ElementValue value;
  if (!ReadOne(self, "int()", &value)) return nullptr;
  if (const auto* v = std::get_if<bool>(&value)) return PyLong_FromLong(*v);
  if (const auto* v = std::get_if<double>(&value)) return PyLong_FromDouble(*v);
  if (std::holds_alternative<std::complex<double>>(value)) return RefuseComplex("int()");
  return ValueToPython(value);
}

PyObject* TensorFloat(PyObject* self) {
  ElementValue value;
  if (!ReadOne(self, "float()", &value)) return nullptr;
  if (std::holds_alternative<std::complex<double>>(value)) return RefuseComplex("float()");
  return std::visit(
      [](auto v) -> PyObject* {
        if constexpr (std::is_arithmetic_v<decltype(v)>) {
          return PyFloat_FromDouble(static_cast<double>(v));
        } else {
          return nullptr;  // refused above
        }
      },
      value);
}

PyObject* TensorIndex(PyObject* self) {
  const TypeKind kind = AsTensor(self).dtype().kind;
  if (kind != TypeKind::kInt && kind != TypeKind::kUInt) {
    Raise(PyExc_TypeError, "Only tensors of integers can be used as an index or a count, not " +
                               AsTensor(self).dtype().ToString() + ".");
    return nullptr;
  }
  if (AsTensor(self).rank() != 0) {
    PyErr_SetString(PyExc_TypeError,
                    "only a 0-D tensor can be used as an index or a count; take item() of others");
    return nullptr;
  }
  ElementValue value;
  return ReadOne(self, "index", &value) ? ValueToPython(value) : nullptr;
}

PyObject* TensorComplex(PyObject* self, PyObject*) {
  ElementValue value;
  if (!ReadOne(self, "complex()", &value)) return nullptr;
  if (std::holds_alternative<std::complex<double>>(value)) return ValueToPython(value);
  PyObject* real = TensorFloat(self);
  if (real == nullptr) return nullptr;
  PyObject* result = PyComplex_FromDoubles(PyFloat_AS_DOUBLE(real), 0.0);
  Py_DECREF(real);
  return result;
}

}  // namespace dovetail::python
