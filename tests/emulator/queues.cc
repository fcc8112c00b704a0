#include "dovetail/tests/emulator/queues.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

Queue* Queues::Make(int device, bool blocking) {
  auto queue = std::make_unique<Queue>();
  // Handles are never reused, so that the use of a destroyed stream is noticed.
  queue->handle = next_handle_;
  next_handle_ += 0x100;
  queue->device = device;
  queue->blocking = blocking;
  queues_.push_back(std::move(queue));
  return queues_.back().get();
}

void Queues::Add(Queue* queue, std::function<void()> run, Points after,
                 std::function<bool()> ready) {
  queue->work.push_back({std::move(run), std::move(after), std::move(ready)});
  ++queue->added;
}

namespace {

// `seen`: how far each queue was looked at, so that queues that wait for each other in turn are
// looked at once, and not once for each way to them.
bool WouldBlock(const Point& point, std::unordered_map<const Queue*, uint64_t>* seen) {
  const Queue& queue = *point.queue;
  const uint64_t first = std::max((*seen)[&queue], queue.done);
  (*seen)[&queue] = std::max(first, point.count);
  for (uint64_t count = first; count < std::min(point.count, queue.added); ++count) {
    const Work& work = queue.work[count - queue.done];
    if (work.ready && !work.ready()) return true;
    for (const Point& after : work.after) {
      if (WouldBlock(after, seen)) return true;
    }
  }
  return false;
}

}  // namespace

bool Queues::WouldBlock(const Point& point) const {
  std::unordered_map<const Queue*, uint64_t> seen;
  return emulator::WouldBlock(point, &seen);
}

void Queues::RunTo(const Point& point) {
  Queue& queue = *point.queue;
  while (queue.done < point.count) {
    // Terminates: the front waits only for work that was added before it.
    RunTo(Points(queue.work.front().after));
    Work work = std::move(queue.work.front());
    queue.work.pop_front();
    ++queue.done;
    if (work.run) work.run();
  }
}

void Queues::RunDevice(int device) {
  for (const auto& queue : queues_) {
    if (queue->device == device) RunTo(Tail(queue.get()));
  }
}

void Queues::LetGoAhead() {
  constexpr uint64_t kSeldom = 16;
  if (queues_.empty() || random_() % kSeldom != 0) return;
  Queue* queue = queues_[random_() % queues_.size()].get();
  const uint64_t left = queue->added - queue->done;
  if (left == 0) return;
  const Point point = {queue, queue->done + 1 + random_() % left};
  if (!WouldBlock(point)) RunTo(point);
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
