// Queues: the streams and events of an emulated GPU. Work is run as late as may be: when the host
// waits for it, when a wait of other work calls for it, or when the seeded schedule lets a stream
// go ahead. So work that nobody ordered has not happened yet when it is looked at.
//
//   Queues queues(seed);
//   Queue* q = queues.Make(0, /*blocking=*/false);
//   queues.Add(q, [] { ... });
//   queues.RunTo(queues.Tail(q));
//
// Holds no locks: whoever owns it serialises.

#ifndef DOVETAIL_TESTS_EMULATOR_QUEUES_H_
#define DOVETAIL_TESTS_EMULATOR_QUEUES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

struct Queue;
struct Graph;

// A point in a queue: what was added before it.
struct Point {
  Queue* queue;
  uint64_t count;
};
using Points = std::vector<Point>;

struct Work {
  std::function<void()> run;
  Points after;
};

struct Queue {
  uintptr_t handle = 0;
  int device = 0;
  bool blocking = false;  // waits for the legacy stream, and the other way about
  bool destroyed = false;
  int asked = 0;  // queries since it last went ahead
  std::deque<Work> work;
  uint64_t added = 0;
  uint64_t done = 0;
  Graph* graph = nullptr;  // that it is captured into
};

// Work that was captured instead of run.
struct Graph {
  bool invalidated = false;
  Queue* origin = nullptr;
  std::vector<std::function<void()>> work;
};

struct EmulatedEvent {
  int device = 0;
  bool interprocess = false;
  bool destroyed = false;
  int asked = 0;
  Points points;           // empty: nothing recorded, or already done
  Graph* graph = nullptr;  // recorded in a capture
};

class Queues {
 public:
  explicit Queues(uint64_t seed) : random_(seed) {}

  Queue* Make(int device, bool blocking);
  const std::vector<std::unique_ptr<Queue>>& all() const { return queues_; }

  void Add(Queue* queue, std::function<void()> run, Points after = {});
  Point Tail(Queue* queue) const { return {queue, queue->added}; }
  bool IsDone(const Point& point) const { return point.queue->done >= point.count; }
  void RunTo(const Point& point);
  void RunTo(const Points& points) {
    for (const Point& point : points) RunTo(point);
  }
  void RunDevice(int device);
  // What a schedule does between two calls: now and then some stream goes ahead by some steps.
  void LetGoAhead();

 private:
  std::vector<std::unique_ptr<Queue>> queues_;
  std::mt19937_64 random_;
  uintptr_t next_handle_ = 0x10000;
};

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_QUEUES_H_
