// PeerType: one class of another library, found without importing it.
//
//   if (torch_tensor.Is(Py_TYPE(x))) ...                 // exactly that class, no subclass
//
// An object of a class exists only after its module was imported, so a look among the imported
// modules is enough. The class is remembered and kept alive when it is first seen. Needs the GIL.
// No error is left set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_PEER_TYPE_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_PEER_TYPE_H_

#include <Python.h>

#include "dlpack/dlpack.h"
#include "dovetail/python/exchange/base/gil_guarded.h"

namespace dovetail::python {

class PeerType {
 public:
  // The class is found as `module.name`; its tp_name ends with `name`.
  constexpr PeerType(const char* module, const char* name) : module_(module), name_(name) {}

  bool Is(PyTypeObject* type) {
    PyTypeObject* const known = type_.load();
    return type == known || (known == nullptr && type != other_.load() && Recognise(type));
  }

  // Whether `type` is the class or inherits from it.
  bool IsBaseOf(PyTypeObject* type);

  // Names the class of this extension module itself, before its package is imported.
  void Install(PyTypeObject* type);

  const char* module() const { return module_; }
  const char* name() const { return name_; }

  // The class's DLPack exchange API; nullptr if it has none of a major version that this code
  // reads. Call after Is() returned true.
  const DLPackExchangeAPI* exchange_api() const { return exchange_api_.load(); }

  // The API's function that makes an object of a managed tensor; nullptr if there is none.
  DLPackManagedTensorToPyObjectNoSync maker() const {
    const DLPackExchangeAPI* api = exchange_api();
    return api != nullptr ? api->managed_tensor_to_py_object_no_sync : nullptr;
  }

 private:
  bool Recognise(PyTypeObject* type);

  const char* module_;
  const char* name_;
  GilGuarded<PyTypeObject*> type_{nullptr};
  // The last class that was not this one. A class that is older than its module's import is none of
  // the module's, so it need not be looked up again.
  GilGuarded<PyTypeObject*> other_{nullptr};
  // The same of the classes whose name ends with `name`: those that are looked up.
  GilGuarded<PyTypeObject*> namesake_{nullptr};
  GilGuarded<const DLPackExchangeAPI*> exchange_api_{nullptr};
};

// The classes that several files know. That of a single library stands in its file in peers/.
extern PeerType builtins_bytes;
extern PeerType numpy_ndarray;
extern PeerType numpy_scalar;
extern PeerType numpy_datetime;
extern PeerType numpy_timedelta;
extern PeerType numpy_dtype;  // the base class
extern PeerType numpy_masked_array;
extern PeerType torch_tensor;
extern PeerType torch_parameter;
extern PeerType torch_dtype;
extern PeerType paddle_tensor;
extern PeerType paddle_dtype;
extern PeerType dovetail_tensor;

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_PEER_TYPE_H_
