// planted_trampolines: the functions of a C exchange table that call Python functions. A callback
// of ctypes can't raise an exception.
//
//   planted_trampolines.set(allocate, managed_from, managed_to, borrow, current_stream)
//   planted_trampolines.addresses()      # a tuple in that order
//
// A Python function gets pointers as numbers and returns the status; -1 is returned if it raises.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>

namespace {

PyObject* functions = nullptr;  // a tuple

int Call(Py_ssize_t index, PyObject* arguments) {
  PyObject* result = arguments == nullptr
                         ? nullptr
                         : PyObject_CallObject(PyTuple_GET_ITEM(functions, index), arguments);
  Py_XDECREF(arguments);
  if (result == nullptr) return -1;
  const auto status = static_cast<int>(PyLong_AsLong(result));
  Py_DECREF(result);
  return status;
}

long long Number(const void* pointer) { return reinterpret_cast<intptr_t>(pointer); }

using SetError = void (*)(void*, const char*, const char*);

int Allocate(void* prototype, void** out, void* context, SetError set_error) {
  return Call(0, Py_BuildValue("(LLLL)", Number(prototype), Number(static_cast<const void*>(out)),
                               Number(context), Number(reinterpret_cast<void*>(set_error))));
}
int ManagedFrom(void* object, void** out) {
  return Call(1, Py_BuildValue("(OL)", object, Number(static_cast<const void*>(out))));
}
int ManagedTo(void* managed, void** out) {
  return Call(2, Py_BuildValue("(LL)", Number(managed), Number(static_cast<const void*>(out))));
}
int Borrow(void* object, void* out) {
  return Call(3, Py_BuildValue("(OL)", object, Number(static_cast<const void*>(out))));
}
int CurrentStream(int32_t type, int32_t id, void** out) {
  return Call(4, Py_BuildValue("(iiL)", type, id, Number(static_cast<const void*>(out))));
}

PyObject* Set(PyObject*, PyObject* arguments) {
  Py_INCREF(arguments);
  Py_XSETREF(functions, arguments);
  Py_RETURN_NONE;
}
PyObject* Addresses(PyObject*, PyObject*) {
  return Py_BuildValue(
      "(LLLLL)", Number(reinterpret_cast<void*>(&Allocate)),
      Number(reinterpret_cast<void*>(&ManagedFrom)), Number(reinterpret_cast<void*>(&ManagedTo)),
      Number(reinterpret_cast<void*>(&Borrow)), Number(reinterpret_cast<void*>(&CurrentStream)));
}

PyMethodDef methods[] = {
    {"set", Set, METH_VARARGS, nullptr}, {"addresses", Addresses, METH_NOARGS, nullptr}, {}};
PyModuleDef module = {PyModuleDef_HEAD_INIT, "planted_trampolines", nullptr, -1, methods};

}  // namespace

PyMODINIT_FUNC PyInit_planted_trampolines() { return PyModule_Create(&module); }
