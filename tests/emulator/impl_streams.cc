#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/tests/emulator/impl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

void Emulator::Impl::Complain(std::string what) { complaints.push_back(std::move(what)); }

int Emulator::Impl::current() const {
  const auto found = currents.find(std::this_thread::get_id());
  return found == currents.end() ? -1 : found->second;
}

void Emulator::Impl::SetCurrent(int device) {
  currents[std::this_thread::get_id()] = device;
  if (device >= 0) used.insert(device);
}

Result Emulator::Impl::CheckCurrent(int* device) {
  *device = current();
  if (*device >= 0) return kOk;
  Complain("A call needs a current device, and this thread has none.");
  return Code(ResultClass::kInvalidHandle);
}

Queue* Emulator::Impl::LegacyOf(int device) { return legacy[device]; }

Queue* Emulator::Impl::Find(NativeStream stream, bool needs_current, Result* result) {
  const auto handle = static_cast<uintptr_t>(stream);
  *result = kOk;
  const bool is_cuda = options.vendor->device == DeviceType::kCuda;
  if (handle == 0 || (handle == 1 && is_cuda) || handle == 2) {
    int device;
    *result = CheckCurrent(&device);
    if (*result != kOk) return nullptr;
    if (handle != 2) return LegacyOf(device);
    Queue*& queue = per_thread[{std::this_thread::get_id(), device}];
    if (queue == nullptr) queue = queues.Make(device, /*blocking=*/true);
    return queue;
  }
  const auto found = by_handle.find(handle);
  if (found == by_handle.end() || found->second->destroyed) {
    Complain(absl::StrCat("The stream 0x", absl::Hex(handle),
                          found == by_handle.end() ? " is none." : " was destroyed before."));
    *result = Code(ResultClass::kInvalidHandle);
    return nullptr;
  }
  Queue* queue = found->second;
  if (needs_current && queue->device != current()) {
    Complain(absl::StrCat("The stream 0x", absl::Hex(handle), " of device ", queue->device,
                          " was given work while device ", current(), " is current."));
    *result = Code(ResultClass::kInvalidHandle);
    return nullptr;
  }
  return queue;
}

bool Emulator::Impl::AnyCapture(int device) const {
  return std::any_of(queues.all().begin(), queues.all().end(), [device](const auto& queue) {
    return queue->graph != nullptr && (device < 0 || queue->device == device);
  });
}

void Emulator::Impl::BreakCaptures(int device, const char* by) {
  Complain(absl::StrCat("A capture was broken by ", by, "."));
  for (const auto& queue : queues.all()) {
    if (queue->graph != nullptr && (device < 0 || queue->device == device)) {
      queue->graph->invalidated = true;
    }
  }
}

Result Emulator::Impl::CheckLegacy(Queue* queue) {
  if (queue != LegacyOf(queue->device) || !AnyCapture(queue->device)) return kOk;
  BreakCaptures(queue->device, "a use of the legacy stream");
  return Code(ResultClass::kCaptureViolation);
}

Result Emulator::Impl::CheckUnsafe(const char* what) {
  const auto mode = modes.find(std::this_thread::get_id());
  if (mode != modes.end() && mode->second == gpu::CaptureMode::kRelaxed) return kOk;
  if (!AnyCapture(-1)) return kOk;
  BreakCaptures(-1, what);
  return Code(ResultClass::kCaptureViolation);
}

// The points after all work of the stream, and after the streams that it waits for implicitly.
Points Emulator::Impl::PointsNow(Queue* queue) {
  Points points = {queues.Tail(queue)};
  if (queue == LegacyOf(queue->device)) {
    for (const auto& other : queues.all()) {
      if (other->device == queue->device && other->blocking) {
        points.push_back(queues.Tail(other.get()));
      }
    }
  } else if (queue->blocking) {
    points.push_back(queues.Tail(LegacyOf(queue->device)));
  }
  return points;
}

Result Emulator::Impl::Add(Queue* queue, std::function<void()> run, Points after) {
  if (const Result r = CheckLegacy(queue); r != kOk) return r;
  if (queue->graph != nullptr) {
    if (run) queue->graph->work.push_back(std::move(run));
    return queue->graph->invalidated ? Code(ResultClass::kCaptureViolation) : kOk;
  }
  for (const Point& point : PointsNow(queue)) {
    if (point.queue != queue) after.push_back(point);
  }
  queues.Add(queue, std::move(run), std::move(after));
  return kOk;
}

Result Emulator::Impl::CheckEvent(EmulatedEvent* event, const char* what) {
  if (event == nullptr || event->destroyed) {
    Complain(absl::StrCat(what, " was called with an event that is none."));
    return Code(ResultClass::kInvalidHandle);
  }
  return kOk;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
