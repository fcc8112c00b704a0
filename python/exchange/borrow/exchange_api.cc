#include "dovetail/python/exchange/borrow/exchange_api.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/interop/dlpack/device_table.h"
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

void* OurStream(DLDevice device) {
  const Device of_streams = StreamDevice(ToDevice(device));
  if (of_streams.type == DeviceType::kCpu) return nullptr;
  if (FindServing(of_streams.type) != nullptr) {
    return reinterpret_cast<void*>(CurrentStream(of_streams).native());
  }
  void* stream = nullptr;
  const ExchangeResult result =
      StreamByExchangeApi(dovetail_tensor, ToDLDevice(of_streams), &stream);
  if (result == ExchangeResult::kError) ForgetException();  // the package has no backend either
  return result == ExchangeResult::kDone ? stream : nullptr;
}

namespace {

// The library's current stream. It is valid during the call.
ExchangeResult StreamOf(const PeerType& type, Device device, std::optional<Stream>* stream) {
  void* handle = nullptr;
  const ExchangeResult result = StreamByExchangeApi(type, ToDLDevice(device), &handle);
  if (result == ExchangeResult::kDone) {
    *stream = Stream::Borrow(device, NativeStream{reinterpret_cast<uintptr_t>(handle)});
  }
  return result;
}

ExchangeResult DoneOrRaise(const absl::Status& status) {
  if (status.ok()) return ExchangeResult::kDone;
  RaiseExchange(status);
  return ExchangeResult::kError;
}

}  // namespace

ExchangeResult OrderAfterLibrary(const PeerType& type, Device device) {
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) return ExchangeResult::kNotTaken;
  std::optional<Stream> theirs;
  const ExchangeResult result = StreamOf(type, device, &theirs);
  if (result == ExchangeResult::kError && ForgetException()) return ExchangeResult::kNotTaken;
  if (result != ExchangeResult::kDone) return result;
  const Stream ours = CurrentStream(device);
  if (*theirs == ours) return result;
  absl::StatusOr<Event> so_far = backend->Record(*theirs);
  if (!so_far.ok()) return DoneOrRaise(so_far.status());
  Uses uses;
  uses.AddEvent(*std::move(so_far));
  return DoneOrRaise(backend->OrderBefore(uses, ours));
}

ExchangeResult OrderBeforeLibrary(const PeerType& type, const Tensor& tensor) {
  const Device device = StreamDevice(tensor.device());
  if (device.type == DeviceType::kCpu) return ExchangeResult::kDone;
  std::optional<Stream> theirs;
  const ExchangeResult result = StreamOf(type, device, &theirs);
  if (result == ExchangeResult::kDone) return DoneOrRaise(tensor.storage()->Share(theirs));
  if (PyErr_Occurred() == nullptr) {
    RaiseExchange(absl::StrCat("The library does not say its stream on ", device.ToString(), "."));
  }
  return ExchangeResult::kError;
}

}  // namespace dovetail::python
