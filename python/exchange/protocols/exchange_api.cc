#include "dovetail/python/exchange/protocols/exchange_api.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/uses.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/validate.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace dovetail::python {

namespace {

ExchangeResult DoneOrRaise(const absl::Status& status) {
  if (status.ok()) return ExchangeResult::kDone;
  RaiseExchange(status);
  return ExchangeResult::kError;
}

// Holds a managed tensor of another library's until Dovetail_Release(). One that is refused is
// deleted before the error is set.
ExchangeResult HoldForeign(UniqueDLPack managed, DovetailBorrowed* borrowed) {
  absl::Status status = ValidateVersion(managed->version);
  if (status.ok()) {
    if (FillBorrowed(managed->dl_tensor, managed->flags, borrowed)) [[likely]] {
      DLManagedTensorVersioned* const held = managed.release();
      if (held->deleter != nullptr) borrowed->held = held;
      return ExchangeResult::kDone;
    }
    status = Validate(managed->dl_tensor, managed->flags);
  }
  managed.reset();
  return DoneOrRaise(status);
}

}  // namespace

void EnsureError(const PeerType& type, std::string_view function) {
  if (PyErr_Occurred() != nullptr) return;
  RaiseExchange(absl::StrCat("The exchange API of ", type.module(), ".", type.name(),
                             " failed without an error in ", function, "."));
}

ExchangeResult RaiseDefect(const DLTensor& lent, uint64_t flags) {
  return DoneOrRaise(Validate(lent, flags));
}

ExchangeResult ManagedByExchangeApi(const PeerType& type, PyObject* x, UniqueDLPack* managed) {
  const DLPackExchangeAPI* api = type.exchange_api();
  if (api == nullptr || api->managed_tensor_from_py_object_no_sync == nullptr) return NotTaken();
  DLManagedTensorVersioned* given = nullptr;
  if (api->managed_tensor_from_py_object_no_sync(x, &given) != 0 || given == nullptr) {
    if (PyErr_Occurred() != nullptr) ForgetException();  // __dlpack__ raises a better one
    return NotTaken();
  }
  managed->reset(given);
  return ExchangeResult::kDone;
}

ExchangeResult BorrowByExchangeApi(const PeerType& type, PyObject* x, DovetailBorrowed* borrowed) {
  const DLPackExchangeAPI* api = type.exchange_api();
  if (api == nullptr) return ExchangeResult::kNotTaken;
  if (api->dltensor_from_py_object_no_sync != nullptr) {
    DLTensor lent{};
    if (api->dltensor_from_py_object_no_sync(x, &lent) == 0) {
      if (FillBorrowed(lent, /*flags=*/0, borrowed)) [[likely]]
        return ExchangeResult::kDone;
      return RaiseDefect(lent, /*flags=*/0);
    }
    if (PyErr_Occurred() != nullptr && !ForgetException()) return ExchangeResult::kError;
  }
  UniqueDLPack managed;
  const ExchangeResult result = ManagedByExchangeApi(type, x, &managed);
  return result == ExchangeResult::kDone ? HoldForeign(std::move(managed), borrowed) : result;
}

ExchangeResult StreamByExchangeApi(const PeerType& type, DLDevice device, void** stream) {
  const DLPackExchangeAPI* api = type.exchange_api();
  if (api == nullptr || api->current_work_stream == nullptr) return ExchangeResult::kNotTaken;
  if (api->current_work_stream(device.device_type, device.device_id, stream) == 0) {
    return ExchangeResult::kDone;
  }
  EnsureError(type, absl::StrCat("current_work_stream for ", ToDevice(device).ToString()));
  return ExchangeResult::kError;
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
