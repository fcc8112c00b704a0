#include "dovetail/python/exchange/routes/from_dlpack_function.h"

#include <string>
#include <string_view>

#include "dovetail/python/exchange/base/lookup.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The function of `x`, a class or a module. What is not callable is not taken.
bool FindIn(PyObject* x, nb::object* function) {
  static constinit InternedName name("from_dlpack");
  if (!FindAttribute(x, name.get(), function)) return false;
  if (function->is_valid() && !PyCallable_Check(function->ptr())) function->reset();
  return true;
}

// The same for an imported module; invalid if there is none of that name.
bool FindInModule(std::string_view name, nb::object* function) {
  const nb::object key =
      nb::steal(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
  if (!key.is_valid()) return false;
  const nb::object module = nb::steal(PyImport_GetModule(key.ptr()));
  if (module.is_valid()) return FindIn(module.ptr(), function);
  return PyErr_Occurred() == nullptr;
}

// The name of the module that the class says it is from; empty if it says nothing.
bool FindModuleName(PyObject* type, std::string* name) {
  nb::object module;
  if (!FindAttribute(type, "__module__", &module)) return false;
  if (!module.is_valid() || !PyUnicode_Check(module.ptr())) return true;
  const char* text = PyUnicode_AsUTF8(module.ptr());
  if (text == nullptr) return false;
  *name = text;
  return true;
}

}  // namespace

bool FindFromDLPack(PyTypeObject* type, nb::object* function) {
  auto* const object = reinterpret_cast<PyObject*>(type);
  std::string module;
  if (!FindIn(object, function) || !FindModuleName(object, &module)) return false;
  std::string_view name = module;
  while (!function->is_valid() && !name.empty()) {
    if (!FindInModule(name, function)) return false;
    const size_t dot = name.rfind('.');
    name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return true;
}

}  // namespace dovetail::python
