#include "dovetail/python/module/functions/named_class.h"

#include <cstddef>
#include <iterator>

#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/module/arguments/call_package.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Where the class of a name is. Never freed or changed, so that it can be read without a lock.
struct Known {
  PyObject* name;
  PyObject* module;  // the names of the module, and of the class in it
  PyObject* attribute;
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

// Keeps where the class is, if it is in the module itself. Leaves no error set: the next call tries
// again.
void Remember(PyObject* name, Slot* slot) {
  nb::object place = nb::steal(CallPackage("dovetail._targets", "place_of", name));
  if (!place.is_valid()) return PyErr_Clear();
  nb::object module = nb::borrow(PyTuple_GetItem(place.ptr(), 0));
  nb::object attribute = nb::borrow(PyTuple_GetItem(place.ptr(), 1));
  if (!module.is_valid() || !attribute.is_valid()) return PyErr_Clear();
  if (PyUnicode_FindChar(attribute.ptr(), '.', 0, PyUnicode_GET_LENGTH(attribute.ptr()), 1) >= 0) {
    return;
  }
  slot->known.store(new Known{Py_NewRef(name), module.release().ptr(), attribute.release().ptr()});
}

// The class, if its module is imported. Leaves no error set.
nb::object FindAt(const Known& known) {
  const nb::object module = nb::steal(PyImport_GetModule(known.module));
  nb::object target;
  if (module.is_valid()) target = nb::steal(PyObject_GetAttr(module.ptr(), known.attribute));
  PyErr_Clear();
  return target.is_valid() && PyType_Check(target.ptr()) ? target : nb::object();
}

}  // namespace

nb::object FindNamedClass(PyObject* name) {
  Slot* const slot = PyUnicode_CheckExact(name) ? FindSlot(name) : nullptr;
  const Known* const known = slot != nullptr ? slot->known.load() : nullptr;
  if (known != nullptr) {
    if (nb::object target = FindAt(*known); target.is_valid()) return target;
  }
  nb::object target = nb::steal(CallPackage("dovetail._targets", "class_named", name));
  if (!target.is_valid()) return target;
  if (!PyType_Check(target.ptr())) {
    PyErr_Format(PyExc_TypeError, "%R is no class: %R", name, target.ptr());
    return {};
  }
  if (slot != nullptr && known == nullptr) Remember(name, slot);
  return target;
}

}  // namespace dovetail::python
