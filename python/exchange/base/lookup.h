// Looks up what an object may have: an attribute, such as that of a protocol, or an item of a dict.
//
//   static constinit InternedName name("__arrow_c_array__");
//   nb::object method;
//   if (!FindAttribute(x, name.get(), &method)) return nullptr;
//   if (method.is_valid()) …
//
// Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_LOOKUP_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_LOOKUP_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace dovetail::python {

// The name of an attribute or parameter as an interned str, made when it is first used.
class InternedName {
 public:
  // `text` is a string literal. A name without one has to be given it before its use.
  constexpr explicit InternedName(const char* text = nullptr) : text_(text), object_(nullptr) {}
  constexpr void set_text(const char* text) { text_ = text; }

  const char* text() const { return text_; }

  // A borrowed reference, valid as long as the process; nullptr with an error set for lack of
  // memory.
  PyObject* get() {
    PyObject* object = object_.load();
    if (object == nullptr) [[unlikely]] {
      object = PyUnicode_InternFromString(text_);  // threads that meet here get the same object
      object_.store(object);
    }
    return object;
  }

 private:
  const char* text_;
  GilGuarded<PyObject*> object_;
};

// `*value` becomes x.name, or invalid if the lookup raised AttributeError. False with an error set
// if the lookup raised anything else.
inline bool FindAttribute(PyObject* x, PyObject* name, nanobind::object* value) {
  PyObject* found;
  const int result = HangAtThreadEnd([&] {
#if PY_VERSION_HEX >= 0x030d0000
    return PyObject_GetOptionalAttr(x, name, &found);
#else
    return _PyObject_LookupAttr(x, name, &found);
#endif
  });
  *value = nanobind::steal(found);
  return result >= 0;
}
inline bool FindAttribute(PyObject* x, const char* name, nanobind::object* value) {
  const nanobind::object key = nanobind::steal(PyUnicode_InternFromString(name));
  *value = nanobind::object();
  return key.is_valid() && FindAttribute(x, key.ptr(), value);
}

// `*value` becomes dict[key], or invalid if there is none. False with an error set if the key
// can't be hashed or compared. The reference is a strong one: another thread may replace the item.
inline bool FindItem(PyObject* dict, PyObject* key, nanobind::object* value) {
#if PY_VERSION_HEX >= 0x030d0000
  PyObject* found;
  const int result = PyDict_GetItemRef(dict, key, &found);
  *value = nanobind::steal(found);
  return result >= 0;
#else
  *value = nanobind::borrow(PyDict_GetItemWithError(dict, key));
  return value->is_valid() || PyErr_Occurred() == nullptr;
#endif
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_LOOKUP_H_
