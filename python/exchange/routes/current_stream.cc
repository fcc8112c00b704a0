#include "dovetail/python/exchange/routes/current_stream.h"

#include "dovetail/core/device.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace dovetail::python {
bool SaysItsStream(PyObject* like) {
  const Peer* peer = FindPeerOrBase(Py_TYPE(like));
  if (peer == nullptr) return false;
  if (peer->current_stream != nullptr) return true;
  const DLPackExchangeAPI* api = peer->type.exchange_api();
  return api != nullptr && api->current_work_stream != nullptr;
}

bool FindCurrentStream(PyObject* like, DLDevice device, void** stream) {
  *stream = nullptr;
  const Device of_streams = StreamDevice(ToDevice(device));
  if (of_streams.type == DeviceType::kCpu) return true;
  const Peer* peer = like == nullptr ? nullptr : FindPeerOrBase(Py_TYPE(like));
  if (peer != nullptr && peer->current_stream != nullptr) return peer->current_stream(stream);
  const ExchangeResult result =
      peer == nullptr ? ExchangeResult::kNotTaken
                      : StreamByExchangeApi(peer->type, ToDLDevice(of_streams), stream);
  if (result == ExchangeResult::kNotTaken) *stream = OurStream(device);
  return result != ExchangeResult::kError;
}

}  // namespace dovetail::python
