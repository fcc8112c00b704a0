#include "dovetail/python/module/functions/named_class.h"

#include <cstddef>
#include <iterator>

#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/module/arguments/call_package.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// A name that was looked up. Never freed or changed, so that it can be read without a lock.
struct Known {
  PyObject* name;
  PyObject* module_name;
  PyObject* module;
  PyObject* target;
};

struct Slot {
  GilGuarded<const Known*> known{nullptr};
};
constinit Slot slots[32];

// The slot of the name, or the first free one; nullptr if all have other names. `name` is an exact
// str, whose hash is kept in it.
Slot* FindSlot(PyObject* name) {
  const auto hash = static_cast<size_t>(PyObject_Hash(name));
  for (size_t i = 0; i < std::size(slots); ++i) {
    Slot& slot = slots[(hash + i) % std::size(slots)];
    const Known* const known = slot.known.load();
    if (known == nullptr || known->name == name || PyUnicode_Compare(known->name, name) == 0) {
      return &slot;
    }
  }
  return nullptr;
}

// The part before the first dot, interned; invalid with an error set.
nb::object ModuleOf(PyObject* name) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(name);
  const Py_ssize_t dot = PyUnicode_FindChar(name, '.', 0, length, 1);
  PyObject* module = PyUnicode_Substring(name, 0, dot < 0 ? length : dot);
  if (module != nullptr) PyUnicode_InternInPlace(&module);
  return nb::steal(module);
}

// Leaves no error set: the next call tries again.
void Remember(PyObject* name, const nb::object& target, Slot* slot) {
  nb::object module_name = ModuleOf(name);
  nb::object module;
  if (module_name.is_valid()) module = nb::steal(PyImport_GetModule(module_name.ptr()));
  if (!module.is_valid()) return PyErr_Clear();
  slot->known.store(new Known{Py_NewRef(name), module_name.release().ptr(), module.release().ptr(),
                              Py_NewRef(target.ptr())});
}

}  // namespace

nb::object FindNamedClass(PyObject* name) {
  Slot* const slot = PyUnicode_CheckExact(name) ? FindSlot(name) : nullptr;
  const Known* const known = slot != nullptr ? slot->known.load() : nullptr;
  if (known != nullptr) {
    const nb::object module = nb::steal(PyImport_GetModule(known->module_name));
    if (module.ptr() == known->module) return nb::borrow(known->target);
    PyErr_Clear();
  }
  nb::object target = nb::steal(CallPackage("dovetail._targets", "class_named", name));
  if (!target.is_valid()) return target;
  if (!PyType_Check(target.ptr())) {
    PyErr_Format(PyExc_TypeError, "%R is no class: %R", name, target.ptr());
    return {};
  }
  if (slot != nullptr && known == nullptr) Remember(name, target, slot);
  return target;
}

}  // namespace dovetail::python
