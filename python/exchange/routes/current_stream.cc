#include "dovetail/python/exchange/routes/current_stream.h"

#include <nanobind/nanobind.h>

#include "dovetail/core/device.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// CuPy's stream of the thread; its arrays are on the current device.
bool CuPyStream(void** stream) {
  nb::object cuda = nb::steal(PyImport_ImportModule("cupy.cuda"));
  nb::object current =
      cuda.is_valid() ? nb::steal(PyObject_CallMethod(cuda.ptr(), "get_current_stream", nullptr))
                      : nb::object();
  nb::object handle =
      current.is_valid() ? nb::steal(PyObject_GetAttrString(current.ptr(), "ptr")) : nb::object();
  if (!handle.is_valid()) return false;
  *stream = PyLong_AsVoidPtr(handle.ptr());
  return PyErr_Occurred() == nullptr;
}

}  // namespace

bool SaysItsStream(PyObject* like) {
  if (cupy_ndarray.Is(Py_TYPE(like))) return true;
  const PeerClass* peer = FindPeerOrBase(Py_TYPE(like));
  const DLPackExchangeAPI* api = peer == nullptr ? nullptr : peer->type.exchange_api();
  return api != nullptr && api->current_work_stream != nullptr;
}

bool FindCurrentStream(PyObject* like, DLDevice device, void** stream) {
  *stream = nullptr;
  const Device of_streams = StreamDevice(ToDevice(device));
  if (of_streams.type == DeviceType::kCpu) return true;
  if (like != nullptr && cupy_ndarray.Is(Py_TYPE(like))) return CuPyStream(stream);
  const PeerClass* peer = like == nullptr ? nullptr : FindPeerOrBase(Py_TYPE(like));
  const ExchangeResult result =
      peer == nullptr ? ExchangeResult::kNotTaken
                      : StreamByExchangeApi(peer->type, ToDLDevice(of_streams), stream);
  if (result == ExchangeResult::kNotTaken) *stream = OurStream(device);
  return result != ExchangeResult::kError;
}

}  // namespace dovetail::python
