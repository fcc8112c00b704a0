#include "dovetail/python/module/trace/trace.h"

#include <thread>

#include "dovetail/core/trace/no_copies.h"
#include "dovetail/core/trace/observed.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {
namespace {

constexpr char kCapsuleName[] = "dovetail no_copies";

struct Scope {
  NoCopiesScope scope;
  internal_trace::Observer observer;  // exports look at the scope only while something listens
  std::thread::id thread = std::this_thread::get_id();
};

// The scope in the capsule, if it was not left yet. A context of one thread can't be ended by
// another.
void Leave(PyObject* capsule) {
  auto* scope = static_cast<Scope*>(PyCapsule_GetContext(capsule));
  if (scope == nullptr || scope->thread != std::this_thread::get_id()) return;
  PyCapsule_SetContext(capsule, nullptr);
  delete scope;
}

}  // namespace

PyObject* NoCopiesEnterFunction(PyObject*, PyObject*) {
  static int unused;  // what a capsule points to must not be null
  PyObject* capsule = PyCapsule_New(&unused, kCapsuleName, &Leave);
  if (capsule != nullptr) PyCapsule_SetContext(capsule, new Scope);
  return capsule;
}

PyObject* NoCopiesLeaveFunction(PyObject*, PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kCapsuleName)) {
    return Raise(PyExc_TypeError, "_no_copies_leave() takes what _no_copies_enter() returned");
  }
  Leave(capsule);
  if (PyCapsule_GetContext(capsule) != nullptr) {
    return Raise(PyExc_RuntimeError, "no_copies() has to end on the thread that it began on");
  }
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
