#include "dovetail/python/exchange/routes/export_object.h"

#include "dovetail/interop/dlpack/export.h"

namespace dovetail::python {

bool HasExchangeApi(const PeerClass& peer, const Tensor& tensor) {
  return peer.exchange_function() != nullptr && tensor.device().type == DeviceType::kCpu;
}

// dlpack.h does not say who owns the struct when the function fails. PyTorch and tvm-ffi leave it
// to the caller; another may have deleted it.
PyObject* ExportToClass(const PeerType& type, const Tensor& tensor, bool copied) {
  const auto make = type.exchange_api()->managed_tensor_to_py_object_no_sync;
  UniqueDLPack managed = ToDLPackUnordered(tensor, copied);
  void* made = nullptr;
  int failed;
  {
    const DeletionMark mark(managed.get());
    failed = make(managed.get(), &made);
    if (failed == 0 || mark.deleted()) (void)managed.release();
  }
  return failed == 0 ? static_cast<PyObject*>(made) : nullptr;
}

PyObject* ExportByExchangeApi(const PeerClass& peer, const Tensor& tensor, bool copied) {
  return ExportToClass(peer.type, tensor, copied);
}

}  // namespace dovetail::python
