#include "dovetail/python/exchange/exchange.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/dlpack/dlpack_out.h"
#include "dovetail/python/exchange/lifetime/host_ready.h"
#include "dovetail/python/exchange/lifetime/owner.h"
#include "dovetail/python/exchange/numpy/numpy_in.h"
#include "dovetail/python/exchange/numpy/numpy_out.h"
#include "dovetail/python/exchange/peers/peer_type.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/exchange/support/error.h"

namespace dovetail::python {
namespace {

constexpr char kOwnerName[] = "dovetail_tensor";

void DropOwner(PyObject* capsule) {
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

PyObject* ToNumPy(const Tensor& tensor) {
  if (!CheckHostAccess(tensor) || !WaitUntilReady(tensor)) return nullptr;
  PyObject* owner = MakeOwner(tensor);
  if (owner == nullptr) return nullptr;
  PyObject* array = MakeNumPyArray(tensor.view(), owner);
  Py_DECREF(owner);
  if (array != nullptr || PyErr_Occurred() != nullptr) return array;
  return Raise(PyExc_TypeError, absl::StrCat("NumPy has no type ", tensor.dtype().ToString(), "."));
}

}  // namespace

bool FromPython(PyObject* object, Tensor* tensor) {
  DrainPendingReleases();
  return ImportAny(object, {}, tensor);
}

bool BorrowedView::Borrow(PyObject* object) {
  if (numpy_ndarray.Is(Py_TYPE(object)) && ViewNumPyArray(object, strides_, &view_)) return true;
  if (!FromPython(object, &tensor_)) return false;
  view_ = tensor_.view();
  return true;
}

PyObject* ToPython(const Tensor& tensor, PyTypeObject* type) {
  DrainPendingReleases();
  const PeerClass* peer = FindPeer(type);
  if (peer != nullptr && peer->way_out == WayOut::kNumPy) return ToNumPy(tensor);
  if (peer == nullptr || peer->exchange_function() == nullptr) {
    PyErr_Format(PyExc_TypeError, "%.200s objects can't be made of a tensor", type->tp_name);
    return nullptr;
  }
  const char* misfit = FindMisfit(*peer, tensor);
  if (misfit == nullptr && HasExchangeApi(*peer, tensor)) {
    return ExportByExchangeApi(*peer, tensor, /*copied=*/false);
  }
  return RaiseExchange(absl::StrCat("A ", type->tp_name, " can't share this memory: the tensor ",
                                    misfit != nullptr ? misfit : "is not on the CPU", "."));
}

PyObject* ToCapsule(const Tensor& tensor) { return ExportCapsule(tensor, {.is_versioned = true}); }

void SetErrors(PyObject* exchange, PyObject* stream) { SetExchangeErrors(exchange, stream); }

}  // namespace dovetail::python
