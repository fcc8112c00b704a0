#include "dovetail/python/exchange/protocols/sycl_queue.h"

#include <nanobind/nanobind.h>

#include "absl/strings/str_cat.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/find_attribute.h"
#include "dovetail/python/exchange/base/integers.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kCapsule[] = "SyclQueueRef";

// A queue object of `queue_class`, which copies the queue from a capsule.
PyObject* Make(PyObject* queue_class, int64_t address) {
  const nb::object capsule =
      nb::steal(PyCapsule_New(reinterpret_cast<void*>(address), kCapsule, nullptr));
  return capsule.is_valid() ? PyObject_CallOneArg(queue_class, capsule.ptr()) : nullptr;
}

}  // namespace

bool FindQueueAddress(PyObject* object, std::optional<int64_t>* address) {
  address->reset();
  if (PyCapsule_CheckExact(object)) {
    if (PyCapsule_IsValid(object, kCapsule) != 0) {
      *address = reinterpret_cast<int64_t>(PyCapsule_GetPointer(object, kCapsule));
    }
    return true;
  }
  if (PyLong_Check(object) || object == Py_None) return true;
  nb::object method;
  if (!FindAttribute(object, "addressof_ref", &method)) return false;
  nb::object device;
  if (!method.is_valid() || !FindAttribute(object, "sycl_device", &device))
    return !PyErr_Occurred();
  if (!device.is_valid()) return true;  // SYCL's other objects have the method, too
  const nb::object value = nb::steal(PyObject_CallNoArgs(method.ptr()));
  return value.is_valid() && ParseInt(value.ptr(), &address->emplace());
}

bool DeviceOfQueue(PyObject* queue, Device* device) {
  nb::object sycl_device;
  if (!FindAttribute(queue, "sycl_device", &sycl_device)) return false;
  if (!sycl_device.is_valid()) {  // a capsule
    *device = {DeviceType::kOneApi, 0};
    return true;
  }
  const nb::object index =
      nb::steal(PyObject_CallMethod(sycl_device.ptr(), "get_device_id", nullptr));
  int64_t value;
  if (!index.is_valid() || !ParseInt(index.ptr(), &value)) return false;
  *device = {DeviceType::kOneApi, static_cast<int32_t>(value)};
  return true;
}

PyObject* NewQueueObject(const Stream& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(stream.device());
  if (!backend.ok()) return RaiseExchange(backend.status());
  const absl::StatusOr<std::optional<int64_t>> address = (*backend)->EncodeStream(stream);
  if (!address.ok()) return RaiseExchange(address.status());
  if (!address->has_value()) {
    return RaiseExchange(absl::StrCat("The backend of ", stream.device().ToString(),
                                      " has no SYCL queue for ", stream.ToString(), "."));
  }
  const nb::object dpctl = nb::steal(PyImport_ImportModule("dpctl"));
  if (!dpctl.is_valid()) return nullptr;
  const nb::object queue_class = nb::steal(PyObject_GetAttrString(dpctl.ptr(), "SyclQueue"));
  return queue_class.is_valid() ? Make(queue_class.ptr(), **address) : nullptr;
}

PyObject* NewQueueObjectFor(PyObject* producer, int64_t address) {
  nb::object queue;
  if (!FindAttribute(producer, "sycl_queue", &queue)) return nullptr;
  if (!queue.is_valid()) return Py_NewRef(Py_None);
  return Make(reinterpret_cast<PyObject*>(Py_TYPE(queue.ptr())), address);
}

}  // namespace dovetail::python
