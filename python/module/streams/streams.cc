#include "dovetail/python/module/streams/streams.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/or_throw.h"
#include "dovetail/python/module/objects/refuse_new.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

DeviceBackend& BackendOf(Device device) { return *OrThrow(BackendFor(device)); }

// The GPU that is meant where nothing says which: the first of the vendor that has any.
Device FirstGpu() {
  for (DeviceType type : {DeviceType::kCuda, DeviceType::kRocm}) {
    DeviceBackend* backend = Registry::Shared().Find(type);
    if (backend != nullptr && backend->DeviceCount().value_or(0) > 0) return {type, 0};
  }
  return Device::Cuda(0);
}

bool HandleOf(PyObject* object, int64_t* handle) {
  if (PyLong_Check(object) && !PyBool_Check(object)) return ParseInt(object, handle);
  nb::object method, value;
  if (!FindAttribute(object, "__cuda_stream__", &method)) return false;
  if (method.is_valid()) {
    nb::object pair = nb::steal(PyObject_CallNoArgs(method.ptr()));
    if (!pair.is_valid()) return false;
    if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
      PyErr_Format(PyExc_TypeError, "__cuda_stream__() returned %R, not a pair (version, handle)",
                   pair.ptr());
      return false;
    }
    return ParseInt(PyTuple_GET_ITEM(pair.ptr(), 1), handle);
  }
  for (const char* name : {"cuda_stream", "ptr"}) {
    if (!FindAttribute(object, name, &value)) return false;
    if (value.is_valid()) return ParseInt(value.ptr(), handle);
  }
  PyErr_Format(PyExc_TypeError,
               "'%.200s' object is no stream; expected a dovetail.Stream, a handle, an object with "
               "__cuda_stream__, .cuda_stream or .ptr, or a dpctl.SyclQueue",
               Py_TYPE(object)->tp_name);
  return false;
}

// The queue's address is its handle. A number is never taken for one.
bool ParseQueue(PyObject* object, PyObject* given, std::optional<int64_t>* handle, Device* device) {
  if (!FindQueueAddress(object, handle)) return false;
  if (*handle && !DeviceOfQueue(object, device)) return false;
  Device said = *device;
  if (!IsGiven(given)) return true;
  if (!ParseDevice(given, &said)) return false;
  if (handle->has_value() ? said == *device : said.type != DeviceType::kOneApi) return true;
  PyErr_Format(PyExc_TypeError, "'%.200s' object is no stream of %s", Py_TYPE(object)->tp_name,
               said.ToString().c_str());
  return false;
}

bool DeviceOf(PyObject* object, PyObject* given, Device* device) {
  if (IsGiven(given)) return ParseDevice(given, device);
  *device = FirstGpu();
  nb::object index, said;
  if (!FindAttribute(object, "device_id", &index)) return false;
  if (index.is_valid()) {
    int64_t value;
    if (!ParseInt(index.ptr(), &value)) return false;
    if (value >= 0) device->index = static_cast<int32_t>(value);
    return true;
  }
  if (!PyLong_Check(object) && !FindAttribute(object, "device", &said)) return false;
  Device parsed;
  if (!said.is_valid()) return true;
  if (!ParseDevice(said.ptr(), &parsed)) return ForgetException();  // CuPy's: its index alone
  device->index = parsed.index;                                     // PyTorch on ROCm says "cuda"
  return true;
}

// Puts back what was current before, on the thread that entered.
struct StreamContext {
  explicit StreamContext(Stream s) : stream(std::move(s)) {}
  Stream stream;
  std::optional<Stream> previous;
  std::thread::id thread;  // that entered, while `previous` is set
};

std::string Repr(const Stream& s) { return absl::StrCat("<dovetail.Stream: ", s.ToString(), ">"); }

bool IsDone(const Event& e) { return OrThrow(BackendOf(e.device()).Query(e)); }

template <typename Object>
void WaitOnHost(DeviceBackend& backend, absl::Status (DeviceBackend::*wait)(const Object&),
                const Object& object) {
  OrThrow(WithoutGilIf(true, [&] { return (backend.*wait)(object); }));
}

void AddStreamClass(nb::module_& m) {
  nb::class_<Stream> c(
      m, "Stream", nb::is_final(),
      "Stream(device)\n\n"
      "A new queue of work on a device, as in Stream(\"cuda:0\"). It lives as long "
      "as\nanything refers to it; any thread may use it.");
  c.attr("__module__") = "dovetail";
  RefuseBareNew(reinterpret_cast<PyTypeObject*>(c.ptr()));
  c.def(
      "__init__",
      [](Stream* self, nb::handle device) {
        Device parsed;
        if (!ParseDevice(device.ptr(), &parsed)) throw nb::python_error();
        new (self) Stream(OrThrow(BackendOf(parsed).CreateStream(parsed)));
      },
      nb::arg("device"), nb::sig("def __init__(self, device: object) -> None"));
  c.def_prop_ro(
      "device", [](const Stream& s) { return nb::steal(DeviceToPython(s.device())); },
      nb::sig("def device(self) -> Device"), "The device that it belongs to.");
  c.def_prop_ro(
      "handle", [](const Stream& s) { return static_cast<uintptr_t>(s.native()); },
      "The vendor's handle (a cudaStream_t, a hipStream_t, the address of a sycl::queue) as a "
      "number; 0: the default stream.");
  c.def(
      "__cuda_stream__",
      [](const Stream& s) {
        if (s.device().type == DeviceType::kOneApi) {
          Raise(PyExc_TypeError, "a queue of oneAPI is no CUDA stream");
          throw nb::python_error();
        }
        return nb::make_tuple(0, static_cast<uintptr_t>(s.native()));
      },
      nb::sig("def __cuda_stream__(self) -> tuple[int, int]"),
      "(0, handle): the protocol by which other libraries take the stream.");
  c.def_prop_ro(
      "sycl_queue",
      [](const Stream& s) {
        if (s.device().type != DeviceType::kOneApi) {
          Raise(PyExc_AttributeError, "sycl_queue is absent: this is no stream of oneAPI.");
          throw nb::python_error();
        }
        nb::object queue = nb::steal(NewQueueObject(s));
        if (!queue.is_valid()) throw nb::python_error();
        return queue;
      },
      nb::sig("def sycl_queue(self) -> object"),
      "The dpctl.SyclQueue that this stream of a oneAPI device is.");
  c.def(
      "record", [](const Stream& s) { return OrThrow(BackendOf(s.device()).Record(s)); },
      "An Event after the work that the stream holds now.");
  c.def(
      "wait",
      [](const Stream& s, const Event& e) {
        DeviceBackend& backend = BackendOf(s.device());
        const bool host_waits = !backend.Serves(e.device().type);
        OrThrow(WithoutGilIf(host_waits, [&] { return backend.Wait(s, e); }));
      },
      nb::arg("event"),
      "Work given to the stream from now on starts after the event. The host waits for an event of\n"
      "another vendor's device.");
  c.def(
      "synchronize",
      [](const Stream& s) {
        WaitOnHost<Stream>(BackendOf(s.device()), &DeviceBackend::Synchronize, s);
      },
      "The host waits for the work that the stream holds.");
  c.def("__repr__", &Repr);
  // NotImplemented for what is no Stream.
  c.def(
      "__eq__", [](const Stream& a, const Stream& b) { return a == b; }, nb::is_operator(),
      nb::sig("def __eq__(self, arg: object, /) -> bool"));
  c.def("__hash__", [](const Stream& s) {
    return static_cast<Py_ssize_t>(absl::HashOf(s.device(), static_cast<uintptr_t>(s.native())));
  });
}

void AddEventClass(nb::module_& m) {
  nb::class_<Event> c(m, "Event", nb::is_final(),
                      "A point in a stream's work, made by Stream.record(), that other streams and "
                      "the\nhost can wait for.");
  c.attr("__module__") = "dovetail";
  RefuseBareNew(reinterpret_cast<PyTypeObject*>(c.ptr()));
  c.def_prop_ro(
      "device", [](const Event& e) { return nb::steal(DeviceToPython(e.device())); },
      nb::sig("def device(self) -> Device"), "The device whose work it is in.");
  c.def("query", &IsDone, "Whether it has happened.");
  c.def(
      "synchronize",
      [](const Event& e) { WaitOnHost<Event>(BackendOf(e.device()), &DeviceBackend::HostWait, e); },
      "The host waits for it.");
}

void AddContext(nb::module_& m) {
  nb::class_<StreamContext> c(m, "_StreamContext", nb::is_final());
  RefuseBareNew(reinterpret_cast<PyTypeObject*>(c.ptr()));
  c.def(
      "__enter__",
      [](StreamContext& self) {
        if (self.previous) throw std::runtime_error("this stream context was entered already");
        self.previous = ExchangeCurrentStream(self.stream);
        self.thread = std::this_thread::get_id();
        return self.stream;
      },
      nb::lock_self());
  c.def(
      "__exit__",
      [](StreamContext& self, nb::args) {  // NOLINT(performance-unnecessary-value-param)
        if (!self.previous) return;
        if (self.thread != std::this_thread::get_id()) {
          throw std::runtime_error("stream() has to end on the thread that it began on");
        }
        ExchangeCurrentStream(*std::exchange(self.previous, std::nullopt));
      },
      nb::sig("def __exit__(self, *args: object) -> None"), nb::lock_self());
}

}  // namespace

bool ParseStreamObject(PyObject* object, PyObject* given, std::optional<Stream>* stream) {
  if (nb::isinstance<Stream>(object)) {
    *stream = *nb::inst_ptr<Stream>(object);
    return true;
  }
  std::optional<int64_t> queue;
  int64_t handle;
  Device device;
  if (!ParseQueue(object, given, &queue, &device)) return false;
  if (queue) {
    handle = *queue;
  } else if (!HandleOf(object, &handle) || !DeviceOf(object, given, &device)) {
    return false;
  }
  absl::StatusOr<DeviceBackend*> backend = BackendFor(device);
  if (!backend.ok()) return RaiseStatus(backend.status()), false;
  // 0 is the default stream in every vendor's runtime, whatever DLPack makes of the number.
  absl::StatusOr<StreamRequest> request =
      (*backend)->DecodeStream(device, handle == 0 ? std::nullopt : std::optional<int64_t>(handle));
  if (!request.ok()) return RaiseStream(request.status().message()), false;
  if (!request->stream) return RaiseStream("-1 is no stream."), false;
  *stream = *std::move(request->stream);
  if (!(*stream)->is_lasting() && !PyLong_Check(object)) {
    // The object keeps its stream alive.
    const Release release = ReleaseObject(Py_NewRef(object));
    *stream = Stream::Own(device, (*stream)->native(),
                          std::shared_ptr<void>(release.context, release.function));
  }
  return true;
}

PyObject* StreamFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("stream", 2, 1, {"stream", "device"});
  PyObject* v[2];
  std::optional<Stream> stream;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseStreamObject(v[0], v[1], &stream)) {
    return nullptr;
  }
  return nb::cast(StreamContext(*std::move(stream))).release().ptr();
}

PyObject* CurrentStreamFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames) {
  static constinit const Signature kSignature("current_stream", 1, 0, {"device"});
  PyObject* v[1];
  Device device = FirstGpu();
  if (!kSignature.Parse(args, nargs, kwnames, v) ||
      (IsGiven(v[0]) && !ParseDevice(v[0], &device))) {
    return nullptr;
  }
  if (absl::Status s = BackendFor(device).status(); !s.ok()) return RaiseStatus(s);
  return nb::cast(CurrentStream(device)).release().ptr();
}

void AddStreams(nb::module_& m) {
  AddStreamClass(m);
  AddEventClass(m);
  AddContext(m);
}

}  // namespace dovetail::python
