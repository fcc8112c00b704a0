#include "dovetail/python/exchange/protocols/producer.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// str(object), which may fail itself.
std::string TextOf(PyObject* object) {
  nb::object text = nb::steal(PyObject_Str(object));
  const char* utf8 = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (utf8 != nullptr) return utf8;
  PyErr_Clear();
  return "(an error without a text)";
}

PyObject* TypeOf(PyObject* x) { return reinterpret_cast<PyObject*>(Py_TYPE(x)); }

// Whether the class of `x` has the attribute. False with the error set where looking raised one,
// instead of the one in flight.
bool FindMethod(PyObject* x, PyObject* name, bool* found) {
  nb::object in_flight = nb::steal(TakeError()), method;
  if (!FindAttribute(TypeOf(x), name, &method)) return false;
  RestoreError(in_flight.release().ptr());
  *found = method.is_valid() && !method.is_none();  // None: the class has no such method
  return true;
}

// After an AttributeError, or a TypeError where the attribute is None: whether it is because `x`
// has no such method, which is then said. An object without either is no tensor, and __dlpack__ is
// what people know the protocol by.
bool IsMissing(PyObject* x, PyObject* name) {
  static constinit InternedName dlpack("__dlpack__");
  bool has_method, has_dlpack;
  if (!FindMethod(x, name, &has_method) || !FindMethod(x, dlpack.get(), &has_dlpack)) return true;
  if (!has_dlpack) {
    PyErr_Format(
        PyExc_AttributeError,
        "'%.200s' object has no attribute '__dlpack__'; from_dlpack() takes an object with "
        "__dlpack__, or a DLPack capsule; dovetail.asarray() takes buffers, arrays and lists, too",
        Py_TYPE(x)->tp_name);
  }
  return !has_method || !has_dlpack;
}

bool IsOf(std::string_view module, std::string_view library) {
  return module == library || (module.starts_with(library) && module[library.size()] == '.');
}

bool IsOfImmutableLibrary(PyObject* x) {
  constexpr std::string_view kLibraries[] = {"jaxlib", "jax", "tensorflow"};
  nb::object module = nb::steal(PyObject_GetAttrString(TypeOf(x), "__module__"));
  const char* name =
      module.is_valid() && PyUnicode_Check(module.ptr()) ? PyUnicode_AsUTF8(module.ptr()) : nullptr;
  if (name == nullptr) {
    PyErr_Clear();
    return false;
  }
  return std::any_of(std::begin(kLibraries), std::end(kLibraries),
                     [&](std::string_view library) { return IsOf(name, library); });
}

// Whether the buffer of `x` is read-only. False with an error set where asking was interrupted.
bool ShowsReadOnly(PyObject* x, bool* result) {
  *result = false;
  if (!PyObject_CheckBuffer(x)) return true;
  Py_buffer view;
  if (PyObject_GetBuffer(x, &view, PyBUF_FULL_RO) != 0) return ForgetException();
  *result = view.readonly != 0;
  PyBuffer_Release(&view);
  return true;
}

}  // namespace

bool IsUnknownKeyword() {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  nb::object error = nb::steal(TakeError());
  const std::string text = TextOf(error.ptr());
  RestoreError(error.release().ptr());
  constexpr std::string_view kWordings[] = {"keyword argument", "incompatible function arguments",
                                            "did not match C++ signature"};
  return std::any_of(std::begin(kWordings), std::end(kWordings),
                     [&](std::string_view wording) { return absl::StrContains(text, wording); });
}

bool IsRefusal() {
  return PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
         PyErr_ExceptionMatches(PyExc_NotImplementedError) ||
         PyErr_ExceptionMatches(PyExc_RuntimeError);
}

std::nullptr_t RaiseRefusal() {
  PyObject* error = TakeError();
  return RaiseExchangeFrom(error, absl::StrCat("The producer refuses copy=False: ", TextOf(error)));
}

std::nullptr_t RaiseOfMethod(std::string_view whose, PyObject* name) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
      PyErr_ExceptionMatches(ExchangeError())) {
    return nullptr;
  }
  PyObject* error = TakeError();
  return RaiseExchangeFrom(error, absl::StrCat(whose, "'s ", TextOf(name), "() raised ",
                                               Py_TYPE(error)->tp_name, ": ", TextOf(error)));
}

bool LacksDevice(PyObject* x, PyObject* name) {
  static constinit InternedName dlpack("__dlpack__");
  bool has_method, has_dlpack;
  return (PyErr_ExceptionMatches(PyExc_AttributeError) ||
          PyErr_ExceptionMatches(PyExc_TypeError)) &&
         FindMethod(x, name, &has_method) && FindMethod(x, dlpack.get(), &has_dlpack) &&
         has_dlpack && !has_method;
}

std::nullptr_t RaiseOfProducer(PyObject* x, PyObject* name) {
  const bool may_be_missing =
      PyErr_ExceptionMatches(PyExc_AttributeError) || PyErr_ExceptionMatches(PyExc_TypeError);
  if (may_be_missing && IsMissing(x, name)) return nullptr;
  return RaiseOfMethod("The producer", name);
}

bool NeverChanges(PyObject* x, const Tensor& tensor, bool* result) {
  *result = IsOfImmutableLibrary(x);
  // A buffer is memory of the CPU: elsewhere it would be a copy.
  if (*result || tensor.device().type != DeviceType::kCpu) return true;
  return ShowsReadOnly(x, result);
}

}  // namespace dovetail::python
