#include "dovetail/python/exchange/peers/tensorflow.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <iterator>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/protocols/capsule.h"
#include "dovetail/python/exchange/protocols/producer.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// x.name, or nullptr with an error set. Passes an error on, for chains.
nb::object Attribute(const nb::object& x, const char* name) {
  return x.is_valid() ? nb::steal(PyObject_GetAttrString(x.ptr(), name)) : nb::object();
}

// A borrowed reference, which is kept for the life of the process. nullptr with an error set.
PyObject* ToDLPackFunction() {
  static constinit GilGuarded<PyObject*> function(nullptr);
  PyObject* known = function.load();
  if (known == nullptr) {
    nb::object found = nb::steal(PyImport_ImportModule("tensorflow"));
    for (const char* name : {"experimental", "dlpack", "to_dlpack"}) found = Attribute(found, name);
    known = found.release().ptr();
    function.store(known);
  }
  return known;
}

// The number of the element type in TensorFlow's types.proto. The method that has it at hand is no
// public one; x.dtype takes ten times as long.
nb::object TypeNumber(PyObject* x) {
  static constinit InternedName name("_datatype_enum");
  nb::object method;
  if (!FindAttribute(x, name.get(), &method)) return {};
  if (method.is_valid()) return nb::steal(PyObject_CallNoArgs(method.ptr()));
  return Attribute(Attribute(nb::borrow(x), "dtype"), "as_datatype_enum");
}

// DT_STRING, DT_RESOURCE and DT_VARIANT.
constexpr long kNoNumbers[] = {7, 20, 21};

// Whether the elements are numbers. False with an error set otherwise.
bool CheckNumbers(PyObject* x) {
  const nb::object number = TypeNumber(x);
  const long value = number.is_valid() ? PyLong_AsLong(number.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) return false;
  if (std::ranges::find(kNoNumbers, value) == std::end(kNoNumbers)) return true;
  const nb::object dtype = Attribute(nb::borrow(x), "dtype");
  if (!dtype.is_valid()) return false;
  PyErr_Format(ExchangeError(), "A tensor of TensorFlow's type %S has no numbers to exchange.",
               dtype.ptr());
  return false;
}

}  // namespace

ExchangeResult ImportTensorFlowTensor(PyObject* x, Tensor* tensor) {
  static constinit InternedName name("to_dlpack");
  PyObject* const function = CheckNumbers(x) ? ToDLPackFunction() : nullptr;
  if (function == nullptr) return ExchangeResult::kError;
  PyObject* capsule = HangAtThreadEnd([&] { return PyObject_CallOneArg(function, x); });
  if (capsule == nullptr) {
    RaiseOfMethod("TensorFlow", name.get());
    return ExchangeResult::kError;
  }
  CapsuleFacts facts;
  if (!ConsumeReturned(x, "to_dlpack", capsule, tensor, &facts)) return ExchangeResult::kError;
  *tensor = tensor->ReadOnly();
  return ExchangeResult::kDone;
}

}  // namespace dovetail::python
