// The name of an attribute or parameter as an interned str, made when it is first used.
//
//   static constinit InternedName name("__dlpack__");
//   PyObject* method = PyObject_GetAttr(x, name.get());
//
// Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_INTERNED_NAME_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_INTERNED_NAME_H_

#include <Python.h>

#include "dovetail/python/exchange/base/gil_guarded.h"

namespace dovetail::python {

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_INTERNED_NAME_H_
