#include "dovetail/python/exchange/protocols/sycl.h"

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/protocols/array_interface.h"

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

namespace {

constexpr char kAttribute[] = "__sycl_usm_array_interface__";
constexpr int64_t kVersion = 1;

bool Refuse(const absl::Status& status) { return RaiseExchange(status), false; }

// Makes our current stream wait for the work that the dict's queue has now.
bool WaitForQueue(DeviceBackend& backend, Device device, PyObject* syclobj, const Stream& ours) {
  std::optional<int64_t> address;
  if (!FindQueueAddress(syclobj, &address)) return false;
  if (!address) return true;  // a context or a device: it has no work
  const absl::StatusOr<StreamRequest> theirs = backend.DecodeStream(device, address);
  if (!theirs.ok()) return Refuse(theirs.status());
  const absl::StatusOr<Event> event = backend.Record(*theirs->stream);
  if (!event.ok()) return Refuse(event.status());
  const absl::Status waits = backend.Wait(ours, *event);
  return waits.ok() || Refuse(waits);
}

// Describes the memory, whose strides and offset the dict counts in elements. DPCTL writes "|f4",
// without the byte order that such types have.
bool Describe(const ArrayFields& fields, std::string* typestr, std::vector<int64_t>* strides,
              ArrayDescription* array) {
  std::optional<int64_t> version, offset;
  if (!fields.FindInt("version", &version) || !fields.FindInt("offset", &offset) ||
      !fields.DescribeAddress(array)) {
    return false;
  }
  if (version.value_or(kVersion) != kVersion) {
    return fields.Refuse(
        absl::StrCat("it has version ", *version, ", and only ", kVersion, " is understood"));
  }
  *typestr = array->typestr;
  if (typestr->size() > 2 && (*typestr)[0] == '|' && typestr->substr(2) != "1") (*typestr)[0] = '<';
  array->typestr = *typestr;
  const absl::StatusOr<DType> dtype = DTypeFromTypestr(*typestr);
  if (!dtype.ok()) return Refuse(dtype.status());
  const int64_t itemsize = dtype->itemsize();
  if (array->strides) {
    for (const int64_t stride : *array->strides) {
      int64_t bytes;
      if (__builtin_mul_overflow(stride, itemsize, &bytes)) {
        return fields.Refuse(absl::StrCat("its stride ", stride, " is too large"));
      }
      strides->push_back(bytes);
    }
    array->strides = *strides;
  }
  int64_t first;
  if (__builtin_mul_overflow(offset.value_or(0), itemsize, &first)) {
    return fields.Refuse(absl::StrCat("its offset ", *offset, " is too large"));
  }
  if (array->data != nullptr) array->data = static_cast<char*>(array->data) + first;
  return true;
}

bool Take(PyObject* x, const ArrayFields& fields, Tensor* tensor) {
  std::string typestr;
  std::vector<int64_t> strides;
  ArrayDescription array;
  nb::object syclobj;
  if (!Describe(fields, &typestr, &strides, &array) || !fields.Find("syclobj", &syclobj)) {
    return false;
  }
  BufferLayout memory;
  if (absl::Status s = DescribeArray(array, &memory); !s.ok()) return Refuse(s);
  absl::StatusOr<DeviceBackend*> backend = BackendFor({DeviceType::kOneApi, 0});
  if (backend.ok()) {
    if (const absl::StatusOr<int> count = (*backend)->DeviceCount(); !count.ok()) {
      backend = count.status();
    }
  }
  if (!backend.ok()) return Refuse(backend.status());
  Device device{DeviceType::kOneApi, 0};
  if (memory.nbytes != 0) {
    const absl::StatusOr<PointerAttributes> known = (*backend)->GetPointerAttributes(memory.data);
    if (!known.ok()) {
      return fields.Refuse(
          absl::StrCat("its address is in no memory of a default context of SYCL's: ",
                       known.status().message()));
    }
    device = known->device;
  }
  const Stream ours = CurrentStream(device);
  if (syclobj.is_valid() && !WaitForQueue(**backend, device, syclobj.ptr(), ours)) return false;
  *tensor = AdoptBuffer(std::move(memory), device, ReleaseObject(Py_NewRef(x)));
  tensor->storage()->RecordUse(ours, UseKind::kOrder);
  return true;
}

// Replaces the strides in bytes by those in elements.
bool CountInElements(PyObject* dict, int64_t itemsize) {
  PyObject* strides = PyDict_GetItemString(dict, "strides");  // borrowed
  if (strides == nullptr || strides == Py_None) return true;
  const Py_ssize_t rank = PyTuple_GET_SIZE(strides);
  const nb::object counted = nb::steal(PyTuple_New(rank));
  if (!counted.is_valid()) return false;
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject* stride =
        PyLong_FromLongLong(PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i)) / itemsize);
    if (stride == nullptr) return false;
    PyTuple_SET_ITEM(counted.ptr(), i, stride);
  }
  return PyDict_SetItemString(dict, "strides", counted.ptr()) == 0;
}

}  // namespace

ExchangeResult ImportByUsmArrayInterface(PyObject* x, Tensor* tensor) {
  return ImportByFields(x, kAttribute, &Take, tensor);
}

PyObject* ExportUsmArrayInterface(const Tensor& tensor) {
  const auto absent = [](std::string_view why) {
    return Raise(PyExc_AttributeError, absl::StrCat(kAttribute, " is absent: ", why));
  };
  if (tensor.device().type != DeviceType::kOneApi) {
    return absent(absl::StrCat("the memory is on ", tensor.device().ToString(),
                               " and not on a device of oneAPI."));
  }
  const absl::StatusOr<std::string> typestr = TypestrFromDType(tensor.dtype());
  if (!typestr.ok()) return absent(typestr.status().message());
  const Stream ours = CurrentStream(tensor.device());
  const absl::Status ready = WithoutGilIf(true, [storage = tensor.storage(), &ours] {
    absl::Status s = storage->Share(ours);
    return s.ok() ? storage->Synchronize() : s;
  });
  if (!ready.ok()) return RaiseExchange(ready);
  const nb::object queue = nb::steal(NewQueueObject(ours));
  if (!queue.is_valid()) return nullptr;
  nb::object dict = nb::steal(ArrayInterfaceDict(tensor, *typestr, tensor.raw_data()));
  const nb::object version = nb::int_(kVersion), offset = nb::int_(0);
  if (!dict.is_valid() || !CountInElements(dict.ptr(), tensor.dtype().itemsize()) ||
      PyDict_SetItemString(dict.ptr(), "version", version.ptr()) != 0 ||
      PyDict_SetItemString(dict.ptr(), "offset", offset.ptr()) != 0 ||
      PyDict_SetItemString(dict.ptr(), "syclobj", queue.ptr()) != 0) {
    return nullptr;
  }
  return dict.release().ptr();
}

}  // namespace dovetail::python
