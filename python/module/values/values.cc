#include "dovetail/python/module/values/values.h"

#include <cstdint>
#include <cstring>

#include "dovetail/core/packing.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/scalar.h"

namespace dovetail::python {
namespace {

PyObject* NumberToPython(int64_t v) { return PyLong_FromLongLong(v); }
PyObject* NumberToPython(uint64_t v) { return PyLong_FromUnsignedLongLong(v); }
PyObject* NumberToPython(double v) { return PyFloat_FromDouble(v); }

// What ReadElement makes of an element of type T, which starts at a whole byte.
template <typename T, typename Widest>
PyObject* ReadNumber(const char* data, int64_t bit, DType) {
  T value;
  std::memcpy(&value, data + bit / 8, sizeof value);
  return NumberToPython(static_cast<Widest>(value));
}
PyObject* ReadAny(const char* data, int64_t bit, DType dtype) {
  return ValueToPython(ReadElement(data, bit, dtype));
}

using NumberReader = PyObject* (*)(const char* data, int64_t bit, DType dtype);

NumberReader ReaderOf(DType dtype) {
  if (dtype == kFloat32) return &ReadNumber<float, double>;
  if (dtype == kFloat64) return &ReadNumber<double, double>;
  if (dtype == kInt8) return &ReadNumber<int8_t, int64_t>;
  if (dtype == kInt16) return &ReadNumber<int16_t, int64_t>;
  if (dtype == kInt32) return &ReadNumber<int32_t, int64_t>;
  if (dtype == kInt64) return &ReadNumber<int64_t, int64_t>;
  if (dtype == kUInt8) return &ReadNumber<uint8_t, uint64_t>;
  if (dtype == kUInt16) return &ReadNumber<uint16_t, uint64_t>;
  if (dtype == kUInt32) return &ReadNumber<uint32_t, uint64_t>;
  if (dtype == kUInt64) return &ReadNumber<uint64_t, uint64_t>;
  return &ReadAny;
}

// Makes the nested lists of one tensor. Signals are handled meanwhile.
class Lister {
 public:
  explicit Lister(const Tensor& tensor)
      : tensor_(tensor),
        data_(static_cast<const char*>(tensor_.raw_data())),
        dtype_(tensor.dtype()),
        read_(ReaderOf(dtype_)),
        step_(StepBits(dtype_, tensor.packing())) {}

  PyObject* List() { return ListFrom(0, 0); }

 private:
  static constexpr int64_t kItemsPerQuestion = 1 << 16;  // about 2 ms

  PyObject* ListFrom(int dim, int64_t bit) {
    if (dim == tensor_.rank()) return read_(data_, bit, dtype_);
    const int64_t size = tensor_.layout().shape(dim);
    PyObject* list = PyList_New(size);
    if (list == nullptr) return nullptr;
    PyObject_GC_UnTrack(list);  // while it has gaps: a signal handler may run any code
    // With no elements the strides mean nothing, and no element is read either.
    const int64_t step = WrappingMultiply(tensor_.layout().stride(dim), step_);
    const bool has_numbers = dim + 1 == tensor_.rank();
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = bit + WrappingMultiply(i, step);
      PyObject* item = has_numbers ? read_(data_, at, dtype_) : ListFrom(dim + 1, at);
      if (item == nullptr || !Go()) {
        Py_XDECREF(item);
        Py_DECREF(list);
        return nullptr;
      }
      PyList_SET_ITEM(list, i, item);
    }
    PyObject_GC_Track(list);
    return list;
  }

  // False if a signal handler raised an error.
  bool Go() { return ++num_items_ % kItemsPerQuestion != 0 || PyErr_CheckSignals() == 0; }

  const Tensor tensor_;  // a handler may run any code
  const char* const data_;
  const DType dtype_;
  const NumberReader read_;
  const int64_t step_;
  int64_t num_items_ = 0;
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
