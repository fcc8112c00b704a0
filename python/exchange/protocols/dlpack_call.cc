#include "dovetail/python/exchange/protocols/dlpack_call.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"
#include "dovetail/python/exchange/protocols/producer.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/exchange/protocols/type_and_device.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// What every call uses, made once.
struct Constants {
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* max_version_name = PyUnicode_InternFromString("max_version");
  PyObject* stream_name = PyUnicode_InternFromString("stream");
  PyObject* dl_device_name = PyUnicode_InternFromString("dl_device");
  PyObject* copy_name = PyUnicode_InternFromString("copy");
  PyObject* max_version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  PyObject* only_max_version = PyTuple_Pack(1, max_version_name);
};
const Constants& Get() { return MadeOnce<Constants>(); }

// A method of the producer's, which may run Python code. `args` begins with the producer.
PyObject* CallMethod(PyObject* name, PyObject** args, PyObject* keywords) {
  return HangAtThreadEnd([&] {
    return PyObject_VectorcallMethod(name, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, keywords);
  });
}

// The keyword arguments of one call of __dlpack__.
class Call {
 public:
  void Add(PyObject* name, nb::object value) {
    names_[count_] = name;
    values_[count_++] = std::move(value);
  }
  PyObject* Do(PyObject* x) const {
    PyObject* args[5] = {x};
    for (int i = 0; i < count_; ++i) args[1 + i] = values_[i].ptr();
    nb::object names;
    if (count_ > 0) {
      names = nb::steal(PyTuple_New(count_));
      if (!names.is_valid()) return nullptr;
      for (int i = 0; i < count_; ++i) PyTuple_SET_ITEM(names.ptr(), i, Py_NewRef(names_[i]));
    }
    return CallMethod(Get().dlpack, args, names.ptr());
  }

 private:
  PyObject* names_[4];
  nb::object values_[4];
  int count_ = 0;
};

// The common case: a producer on the CPU, and nothing asked for but the newest version.
PyObject* CallPlain(PyObject* x) {
  PyObject* args[2] = {x, Get().max_version};
  return CallMethod(Get().dlpack, args, Get().only_max_version);
}

// A producer without __dlpack_device__ is taken to be on the CPU, as NumPy does.
bool AskDevice(PyObject* x, Device* device, bool* is_unknown) {
  PyObject* args[1] = {x};
  nb::object answer = nb::steal(CallMethod(Get().dlpack_device, args, nullptr));
  if (answer.is_valid()) return ReadDeviceAnswer(answer.ptr(), device);
  if (!LacksDevice(x, Get().dlpack_device)) return RaiseOfProducer(x, Get().dlpack_device), false;
  PyErr_Clear();
  *device = Device::Cpu();
  return *is_unknown = true;
}

// Memory of the host is ready when its producer says so; managed memory has streams.
bool HasStreams(DeviceType type) {
  return !IsHostAccessible(type) || type == DeviceType::kCudaManaged;
}

std::nullptr_t RaiseUnordered(Device at) {
  return RaiseExchange(
      absl::StrCat("The producer has memory of ", at.ToString(),
                   " and no __dlpack_device__, by which it says so before it is asked for "
                   "__dlpack__(stream=…): its work would not be ordered before ours."));
}

bool HasStreamNumbers(DeviceType type) {
  return type == DeviceType::kCuda || type == DeviceType::kCudaManaged || type == DeviceType::kRocm;
}

// For oneAPI: a queue of this thread's, which a producer with queues gets as an object of its own
// class. No other thread's work is on it, so that what it holds after the call is the producer's.
bool AddQueue(PyObject* x, DeviceBackend* backend, Device device, Call* call,
              std::optional<Stream>* producers) {
  thread_local std::optional<Stream> own;
  if (!own || own->device() != device) {
    absl::StatusOr<Stream> made = backend->CreateStream(device);
    if (!made.ok()) return RaiseExchange(made.status()), false;
    own = *std::move(made);
  }
  const absl::StatusOr<std::optional<int64_t>> address = backend->EncodeStream(*own);
  if (!address.ok()) return RaiseExchange(address.status()), false;
  if (!address->has_value()) return true;
  nb::object queue = nb::steal(NewQueueObjectFor(x, **address));
  if (!queue.is_valid()) return false;
  if (queue.is_none()) return true;
  call->Add(Get().stream_name, std::move(queue));
  *producers = own;
  return true;
}

// Our current stream waits for the work before which the producer ordered the queue.
bool WaitForQueue(const Stream& queue, const Stream& ours) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(queue.device());
  if (!backend.ok()) return RaiseExchange(backend.status()), false;
  const absl::StatusOr<Event> event = (*backend)->Record(queue);
  const absl::Status s = event.ok() ? (*backend)->Wait(ours, *event) : event.status();
  return s.ok() || (RaiseExchange(s), false);
}

bool IsUnordered(PyObject* x, const ImportRequest& request) {
  return request.is_unordered != nullptr && request.is_unordered(x);
}

// For an extension without a backend of its own.
bool AddPackagesStream(Device device, Call* call) {
  void* const stream = HasStreamNumbers(device.type) ? OurStream(ToDLDevice(device)) : nullptr;
  if (stream == nullptr) return true;  // None is the default stream
  nb::object value = nb::steal(PyLong_FromVoidPtr(stream));
  if (!value.is_valid()) return false;
  call->Add(Get().stream_name, std::move(value));
  return true;
}

// The stream that the producer orders its work before: ours, always passed explicitly. `*producers`
// is set to one that our own has to wait for afterwards.
bool AddStream(PyObject* x, Device device, const ImportRequest& request, Call* call,
               std::optional<Stream>* producers) {
  if (!HasStreams(device.type)) return true;
  if (IsUnordered(x, request)) {
    if (HasStreamNumbers(device.type)) call->Add(Get().stream_name, nb::steal(PyLong_FromLong(-1)));
    return true;
  }
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) return AddPackagesStream(device, call);
  if (device.type == DeviceType::kOneApi) return AddQueue(x, backend, device, call, producers);
  absl::StatusOr<std::optional<int64_t>> code = backend->EncodeStream(CurrentStream(device));
  if (!code.ok()) return RaiseExchange(code.status()), false;
  if (!code->has_value()) return true;
  nb::object value = nb::steal(PyLong_FromLongLong(**code));
  if (!value.is_valid()) return false;
  call->Add(Get().stream_name, std::move(value));
  return true;
}

// Another try after a call that failed. If it fails too, the first error is told as its context.
PyObject* Again(const Call& call, PyObject* x) {
  nb::object first = nb::steal(TakeError());
  PyObject* capsule = call.Do(x);
  if (capsule != nullptr) return capsule;
  PyObject* error = TakeError();
  if (error != first.ptr()) PyException_SetContext(error, first.release().ptr());
  RestoreError(error);
  return nullptr;
}

// Calls __dlpack__ in the ways that `request` and the producer's age leave, best first. `*copies`
// is set when the producer was asked for the copy and agreed.
PyObject* CallProducer(PyObject* x, Device device, const ImportRequest& request, bool* copies,
                       std::optional<Stream>* producers) {
  const Constants& c = Get();
  const bool moves = request.device.has_value() && *request.device != device;
  *copies = false;
  if (device.type == DeviceType::kCpu && !moves && !request.copy.has_value()) {
    PyObject* capsule = CallPlain(x);
    if (capsule != nullptr || !IsUnknownKeyword()) return capsule;
    return Again(Call(), x);
  }
  Call old;
  if (!AddStream(x, device, request, &old, producers)) return nullptr;
  Call plain = old;
  plain.Add(c.max_version_name, nb::borrow(c.max_version));
  Call full = plain;
  if (moves) {
    const DLDevice to = ToDLDevice(*request.device);
    full.Add(c.dl_device_name,
             nb::steal(Py_BuildValue("(ii)", static_cast<int>(to.device_type), to.device_id)));
  }
  if (request.copy.has_value())
    full.Add(c.copy_name, nb::borrow(*request.copy ? Py_True : Py_False));
  PyObject* capsule = full.Do(x);
  if (capsule != nullptr) {
    *copies = request.copy.value_or(false);
    return capsule;
  }
  if (IsUnknownKeyword()) return Again(old, x);
  // What was refused may be made up for here, unless it is that no copy may be made.
  if (!IsRefusal() || request.copy == std::optional<bool>(false)) return nullptr;
  return Again(plain, x);
}

}  // namespace

bool ImportByDLPack(PyObject* x, const ImportRequest& request, Tensor* tensor, bool* copied) {
  Device device;
  bool is_unknown = false;  // the device
  if (!AskDevice(x, &device, &is_unknown)) return false;
  std::optional<Stream> producers;
  nb::object capsule = nb::steal(CallProducer(x, device, request, copied, &producers));
  const bool forbids_copy = request.copy == std::optional<bool>(false);
  if (!capsule.is_valid()) {
    if (forbids_copy && IsRefusal()) return RaiseRefusal(), false;
    return RaiseOfProducer(x, Get().dlpack), false;
  }
  CapsuleFacts facts;
  if (!ConsumeReturned(x, "__dlpack__", capsule.release().ptr(), tensor, &facts)) return false;
  // The producer has ordered its work before our stream, and who uses the tensor next waits for
  // that.
  if (const Device at = tensor->device(); at.type != DeviceType::kCpu) {
    if (is_unknown && HasStreams(at.type)) return RaiseUnordered(at), false;
    if (FindServing(at.type) != nullptr && !IsUnordered(x, request)) {
      const Stream ours = CurrentStream(at);
      if (producers && !WaitForQueue(*producers, ours)) return false;
      tensor->storage()->RecordUse(ours, UseKind::kOrder);
    }
  }
  if (request.trace != nullptr) request.trace->capsule = facts;
  if (facts.is_copied()) {
    *copied = true;
    *tensor = Writable(*tensor);  // it is ours alone
  } else if (tensor->is_read_only()) {
    *copied = false;  // not as copy=True asks for it
  } else if (facts.is_legacy() && !*copied) {
    bool never_changes;
    if (!NeverChanges(x, *tensor, &never_changes)) return false;
    if (never_changes) *tensor = tensor->ReadOnly();
  }
  if (facts.is_copied() && forbids_copy) {
    RaiseExchange("The producer made a copy, which copy=False forbids.");
    return false;
  }
  return true;
}

}  // namespace dovetail::python
