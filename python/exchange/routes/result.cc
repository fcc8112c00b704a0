#include "dovetail/python/exchange/routes/result.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kOwnerName[] = "dovetail_tensor";

void DropOwner(PyObject* capsule) {
  nb::error_scope in_flight;
  auto* tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, kOwnerName));
  DestroyWithGil(*tensor);
  operator delete(tensor);
}

// A capsule that keeps the tensor, as the base of a NumPy array.
PyObject* MakeOwner(const Tensor& tensor) {
  auto held = std::make_unique<Tensor>(tensor);
  PyObject* capsule = PyCapsule_New(held.get(), kOwnerName, &DropOwner);
  if (capsule != nullptr) (void)held.release();
  return capsule;
}

// nullptr without an error for a type that NumPy itself does not have.
nb::object TryNumPy(const Tensor& tensor) {
  if (!ReadyHost(tensor)) return {};
  const nb::object owner = nb::steal(MakeOwner(tensor));
  if (!owner.is_valid()) return {};
  const nb::object numpy = nb::steal(PyImport_ImportModule("numpy"));
  return numpy.is_valid() ? nb::steal(MakeNumPyArray(tensor.view(), owner.ptr())) : nb::object();
}

// Whether the import error that is set says that there is no module of this name. (A module that it
// imports may be missing, too.)
bool IsMissing(const char* module) {
  if (!PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) return false;
  PyObject* const error = TakeError();
  const nb::object name = nb::steal(PyObject_GetAttrString(error, "name"));
  const bool is_it = name.is_valid() && PyUnicode_Check(name.ptr()) &&
                     PyUnicode_CompareWithASCIIString(name.ptr(), module) == 0;
  PyErr_Clear();
  RestoreError(error);
  return is_it;
}

// Whether there is a class dovetail.Tensor. Imports the package when it is first asked, and
// remembers if there is none. False with an error set if the import failed for another reason.
bool FindPackage(bool* found) {
  *found = dovetail_tensor.exchange_api() != nullptr;
  static constinit GilGuarded<bool> is_missing(false);
  if (*found || is_missing.load()) return true;
  const nb::object package =
      nb::steal(HangAtThreadEnd([] { return PyImport_ImportModule("dovetail"); }));
  if (!package.is_valid()) {
    if (!IsMissing("dovetail")) return false;
    PyErr_Clear();
    is_missing.store(true);
    return true;
  }
  nb::object type;  // another package may have the name
  if (!FindAttribute(package.ptr(), "Tensor", &type)) return false;
  *found = type.is_valid() && dovetail_tensor.Is(reinterpret_cast<PyTypeObject*>(type.ptr())) &&
           dovetail_tensor.exchange_api() != nullptr;
  return true;
}

// Whether the library takes the memory as it is. False with an ExchangeError set.
bool CheckFit(const Peer& peer, const Tensor& tensor) {
  if (peer.checks_by_itself) return true;
  const char* misfit = WhyRefused(peer.accepts, tensor);
  if (misfit == nullptr) return true;
  RaiseExchange(absl::StrCat("A ", peer.type.module(), ".", peer.type.name(),
                             " can't share this memory: the tensor ", misfit, "."));
  return false;
}

nb::object DovetailTensor(const Tensor& tensor) {
  return nb::steal(ExportToClass(dovetail_tensor, tensor));
}

// What every library takes: a dovetail.Tensor, or a NumPy array.
nb::object Common(const Tensor& tensor) {
  bool has_package;
  if (!FindPackage(&has_package)) return {};
  if (has_package) return DovetailTensor(tensor);
  nb::object array = TryNumPy(tensor);
  if (!array.is_valid() && PyErr_Occurred() == nullptr) {
    Raise(PyExc_TypeError, absl::StrCat("NumPy has no type ", tensor.dtype().ToString(),
                                        "; install dovetail for tensors of that type."));
  }
  return array;
}

// Steals `function`, which may be nullptr with an error set.
PyObject* Call(PyObject* function, PyObject* argument) {
  const nb::object callable = nb::steal(function);
  if (!callable.is_valid()) return nullptr;
  return HangAtThreadEnd([&] { return PyObject_CallOneArg(callable.ptr(), argument); });
}

PyObject* ByFunction(const Peer& peer, const Tensor& tensor) {
  bool has_package;
  const nb::object common = Common(tensor);
  if (!common.is_valid() || !FindPackage(&has_package)) return nullptr;
  PyObject* made = Call(NewFunction(peer.function), common.ptr());
  if (made != nullptr || has_package || !PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
    return made;
  }
  // The function is one of the package's own, which is not there.
  PyErr_Clear();
  return peer.own_function.name != nullptr ? Call(NewFunction(peer.own_function), common.ptr())
                                           : Py_NewRef(common.ptr());
}

PyObject* ToNumPy(const Peer& peer, const Tensor& tensor) {
  nb::object array = TryNumPy(tensor);
  if (array.is_valid() || PyErr_Occurred() != nullptr) return array.release().ptr();
  bool has_package;
  if (!FindPackage(&has_package)) return nullptr;
  if (has_package) return ByFunction(peer, tensor);  // a type of ml_dtypes
  return Raise(PyExc_TypeError, absl::StrCat("NumPy has no type ", tensor.dtype().ToString(), "."));
}

}  // namespace

PyObject* MakeLike(const Tensor& tensor, PyObject* like) {
  if (like == nullptr) return Common(tensor).release().ptr();
  const bool is_class = PyType_Check(like);
  auto* const type = is_class ? reinterpret_cast<PyTypeObject*>(like) : Py_TYPE(like);
  const Peer* const peer = FindPeerOrBase(type);
  if (peer == nullptr && is_class) {
    PyErr_Format(PyExc_TypeError, "%.200s objects can't be made of a tensor; known classes are %s",
                 type->tp_name, PeerNames());
    return nullptr;
  }
  if (peer == nullptr) return Common(tensor).release().ptr();
  if (peer->way_out == WayOut::kNumPy) return ToNumPy(*peer, tensor);
  if (!CheckFit(*peer, tensor)) return nullptr;
  const bool by_function = peer->type.maker() == nullptr && peer->function.name != nullptr;
  return by_function ? ByFunction(*peer, tensor) : ExportToClass(peer->type, tensor);
}

}  // namespace dovetail::python
