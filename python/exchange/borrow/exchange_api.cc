#include "dovetail/python/exchange/borrow/exchange_api.h"

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/python/exchange/borrow/fill.h"
#include "dovetail/python/exchange/support/error.h"

namespace dovetail::python {

ExchangeResult BorrowByExchangeApi(const PeerType& type, PyObject* x, DovetailBorrowed* borrowed) {
  const DLPackExchangeAPI* api = type.exchange_api();
  if (api == nullptr) return ExchangeResult::kNotTaken;
  if (api->dltensor_from_py_object_no_sync != nullptr) {
    DLTensor lent{};
    if (api->dltensor_from_py_object_no_sync(x, &lent) == 0 &&
        FillBorrowed(lent, /*flags=*/0, borrowed)) {
      return ExchangeResult::kDone;
    }
    if (PyErr_Occurred() != nullptr && !ForgetException()) return ExchangeResult::kError;
  }
  DLManagedTensorVersioned* managed = nullptr;
  if (api->managed_tensor_from_py_object_no_sync(x, &managed) != 0 || managed == nullptr) {
    if (PyErr_Occurred() != nullptr) ForgetException();  // __dlpack__ raises a better one
    return NotTaken();
  }
  return HoldBorrowed(UniqueDLPack(managed), borrowed) ? ExchangeResult::kDone : NotTaken();
}

ExchangeResult StreamByExchangeApi(const PeerType& type, DLDevice device, void** stream) {
  const DLPackExchangeAPI* api = type.exchange_api();
  if (api == nullptr || api->current_work_stream == nullptr) return ExchangeResult::kNotTaken;
  return ResultOf(api->current_work_stream(device.device_type, device.device_id, stream) == 0);
}

}  // namespace dovetail::python
