#include "dovetail/python/module/trace/trace.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "dovetail/core/internal/std_mutex.h"
#include "dovetail/core/trace/trace.h"
#include "dovetail/python/exchange/base/call_site.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// A TraceEvent with memory of its own.
struct Recorded {
  TraceKind kind;
  int64_t start_ns, duration_ns;
  std::string way, source, target;
  std::optional<bool> copied;
  std::string reason;
  std::optional<DType> dtype, to_dtype;
  std::vector<int64_t> shape;
  int64_t nbytes;
  Device device, to_device;
  std::string stream;
  std::vector<std::string> awaited;
  CallSite site;
  int64_t thread;
};

Recorded Record(const TraceEvent& event) {
  Recorded recorded{
      .kind = event.kind,
      .start_ns = event.start_ns,
      .duration_ns = event.duration_ns,
      .way = std::string(event.way),
      .source = std::string(event.source),
      .target = std::string(event.target),
      .copied = event.copied,
      .reason = std::string(event.reason),
      .dtype = event.dtype,
      .to_dtype = event.to_dtype,
      .shape = {event.shape.begin(), event.shape.end()},
      .nbytes = event.nbytes,
      .device = event.device,
      .to_device = event.to_device,
      .stream = event.stream == nullptr ? "" : event.stream->ToString(),
      .awaited = {},
      .site = CurrentCallSite(),
      .thread = syscall(SYS_gettid),  // glibc has gettid() from 2.30 on
  };
  for (const Stream& stream : event.awaited) recorded.awaited.push_back(stream.ToString());
  return recorded;
}

nb::object Taken(PyObject* object) {
  nb::object taken = nb::steal(object);
  if (!taken.is_valid()) throw nb::python_error();
  return taken;
}

nb::tuple ToTuple(const Recorded& e) {
  const auto type_or_none = [](const std::optional<DType>& dtype) {
    return dtype ? Taken(DTypeToPython(*dtype)) : nb::none();
  };
  const auto text_or_none = [](const std::string& text) {
    return text.empty() ? nb::none() : nb::object(nb::str(text.c_str(), text.size()));
  };
  const std::string_view kind = TraceKindName(e.kind);
  nb::list awaited;
  for (const std::string& stream : e.awaited) awaited.append(nb::str(stream.c_str()));
  return nb::make_tuple(
      nb::str(kind.data(), kind.size()), e.start_ns, e.duration_ns, text_or_none(e.way),
      text_or_none(e.source), text_or_none(e.target),
      e.copied ? nb::object(nb::bool_(*e.copied)) : nb::none(), text_or_none(e.reason),
      type_or_none(e.dtype), e.dtype ? Taken(ShapeToPython(e.shape)) : nb::none(), e.nbytes,
      Taken(DeviceToPython(e.device)), type_or_none(e.to_dtype),
      e.to_dtype ? Taken(DeviceToPython(e.to_device)) : nb::none(), text_or_none(e.stream),
      nb::tuple(awaited), text_or_none(e.site.file), e.site.line, e.thread);
}

// Guards the events of all recorders: fork() can wait for one mutex, but not for each of many.
constinit StdMutex events_mutex;
StdMutex& EventsMutex() { return events_mutex; }

// The events of a recorder. Shared with the subscription: an event that another thread tells while
// the recorder goes away still has a place to go.
class Log {
 public:
  explicit Log(size_t limit) : limit_(limit) {
    [[maybe_unused]] static const bool arranged = (HoldDuringForks<&EventsMutex>(), true);
  }

  void Add(const TraceEvent& event) noexcept {
    try {
      Recorded recorded = Record(event);
      const StdMutexLock lock(events_mutex);
      if (events_.size() < limit_) {
        events_.push_back(std::move(recorded));
        return;
      }
    } catch (const std::exception&) {  // no memory: it is left out, too
    }
    const StdMutexLock lock(events_mutex);
    ++left_out_;
  }

  // The events so far, and the number of those that were left out.
  std::pair<std::vector<Recorded>, int64_t> Events() const {
    const StdMutexLock lock(events_mutex);
    return {events_, left_out_};
  }

 private:
  const size_t limit_;
  std::vector<Recorded> events_ ABSL_GUARDED_BY(events_mutex);
  int64_t left_out_ ABSL_GUARDED_BY(events_mutex) = 0;
};

struct Recorder {
  explicit Recorder(size_t limit)
      : log(std::make_shared<Log>(limit)),
        subscription(std::in_place, [log = log](const TraceEvent& event) { log->Add(event); }) {}

  std::shared_ptr<Log> log;
  std::optional<TraceSubscription> subscription;
};

constexpr char kCapsuleName[] = "dovetail trace";

Recorder* RecorderOf(PyObject* capsule) {
  return static_cast<Recorder*>(PyCapsule_GetPointer(capsule, kCapsuleName));
}

}  // namespace

PyObject* TraceStartFunction(PyObject*, PyObject* limit) {
  int64_t count;
  if (!ParseInt(limit, &count)) return nullptr;
  if (count < 0) return Raise(PyExc_ValueError, "limit must not be negative");
  auto recorder = std::make_unique<Recorder>(static_cast<size_t>(count));
  PyObject* capsule =
      PyCapsule_New(recorder.get(), kCapsuleName, [](PyObject* self) { delete RecorderOf(self); });
  if (capsule != nullptr) (void)recorder.release();
  return capsule;
}

PyObject* TraceEventsFunction(PyObject*, PyObject* capsule) {
  Recorder* const recorder = RecorderOf(capsule);
  if (recorder == nullptr) return nullptr;
  const auto [events, left_out] = recorder->log->Events();
  nb::list list;
  for (const Recorded& event : events) list.append(ToTuple(event));
  return nb::make_tuple(list, left_out).release().ptr();
}

PyObject* TraceStopFunction(PyObject*, PyObject* capsule) {
  Recorder* const recorder = RecorderOf(capsule);
  if (recorder == nullptr) return nullptr;
  recorder->subscription.reset();
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
