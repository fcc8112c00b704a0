#include "dovetail/python/exchange/protocols/capsule.h"

#include <nanobind/nanobind.h>

#include <cstring>

#include "dovetail/interop/dlpack/validate.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The names of a managed tensor's capsule. Static strings, as the specification asks.
template <typename Managed>
struct Names;
template <>
struct Names<DLManagedTensor> {
  static constexpr char kFresh[] = "dltensor";
  static constexpr char kUsed[] = "used_dltensor";
};
template <>
struct Names<DLManagedTensorVersioned> {
  static constexpr char kFresh[] = "dltensor_versioned";
  static constexpr char kUsed[] = "used_dltensor_versioned";
};

// Frees what nobody consumed. An exception in flight survives, whatever the deleter runs.
template <typename Managed>
void DestroyCapsule(PyObject* capsule) {
  constexpr const char* kFresh = Names<Managed>::kFresh;
  const char* name = PyCapsule_GetName(capsule);
  // (The first letter tells nearly always.)
  const bool is_fresh =
      name == kFresh || (name != nullptr && name[0] == kFresh[0] && std::strcmp(name, kFresh) == 0);
  if (!is_fresh) return;
  nb::error_scope in_flight;
  DLPackDeleter()(static_cast<Managed*>(PyCapsule_GetPointer(capsule, kFresh)));
}

template <typename Pointer>
PyObject* Make(Pointer managed) {
  using Managed = typename Pointer::element_type;
  PyObject* capsule =
      PyCapsule_New(managed.get(), Names<Managed>::kFresh, &DestroyCapsule<Managed>);
  if (capsule != nullptr) managed.release();
  return capsule;
}

template <typename Managed>
bool Consume(PyObject* capsule, Tensor* tensor) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, Names<Managed>::kFresh));
  if (absl::Status s = ImportManaged(managed, tensor); !s.ok()) return RaiseExchange(s), false;
  PyCapsule_SetName(capsule, Names<Managed>::kUsed);  // fails for what is no capsule alone
  return true;
}

// A capsule of another major version: nothing beyond its deleter may be read, and its producer's
// destructor may not know what to do with it.
bool RefuseVersion(PyObject* capsule, DLManagedTensorVersioned* managed,
                   const absl::Status& status) {
  PyCapsule_SetName(capsule, Names<DLManagedTensorVersioned>::kUsed);
  DLPackDeleter()(managed);
  RaiseExchange(status);
  return false;
}

}  // namespace

PyObject* MakeCapsule(UniqueDLPack managed) { return Make(std::move(managed)); }
PyObject* MakeCapsule(UniqueDLPackLegacy managed) { return Make(std::move(managed)); }

bool ConsumeCapsule(PyObject* capsule, Tensor* tensor, CapsuleFacts* facts) {
  // Another thread may be consuming the same capsule. (Does nothing in builds with the GIL.)
  const nb::ft_object_guard guard(capsule);
  using Versioned = Names<DLManagedTensorVersioned>;
  using Legacy = Names<DLManagedTensor>;
  const char* name = PyCapsule_GetName(capsule);
  if (name == nullptr) {
    PyErr_Clear();
    name = "";
  }
  if (std::strcmp(name, Versioned::kFresh) == 0) {
    auto* managed =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, Versioned::kFresh));
    if (absl::Status s = ValidateVersion(managed->version); !s.ok()) {
      return RefuseVersion(capsule, managed, s);
    }
    *facts = {.version = managed->version, .flags = managed->flags};
    return Consume<DLManagedTensorVersioned>(capsule, tensor);
  }
  if (std::strcmp(name, Legacy::kFresh) == 0) {
    *facts = {};
    return Consume<DLManagedTensor>(capsule, tensor);
  }
  if (std::strcmp(name, Versioned::kUsed) == 0 || std::strcmp(name, Legacy::kUsed) == 0) {
    RaiseExchange(
        "This DLPack capsule was consumed already; a capsule can be consumed only once. Ask the "
        "producer for a new one.");
    return false;
  }
  RaiseExchange(std::string("A capsule named \"") + name +
                "\" holds no DLPack tensor; expected \"" + Versioned::kFresh + "\" or \"" +
                Legacy::kFresh + "\".");
  return false;
}

bool ConsumeReturned(PyObject* x, const char* function, PyObject* returned, Tensor* tensor,
                     CapsuleFacts* facts) {
  nb::object capsule = nb::steal(returned);
  if (!PyCapsule_CheckExact(returned)) {
    PyErr_Format(PyExc_TypeError, "%s() of %.200s returned %.200s, not a capsule", function,
                 Py_TYPE(x)->tp_name, Py_TYPE(returned)->tp_name);
    DropBesideError(&capsule);
    return false;
  }
  if (ConsumeCapsule(returned, tensor, facts)) return true;
  DropBesideError(&capsule);
  return false;
}

}  // namespace dovetail::python
