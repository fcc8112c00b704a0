// Queues: the streams and events of an emulated GPU. Work runs as late as possible: when the host
// waits for it, when other work waits for it, or when the seeded schedule lets a stream run ahead.
// Work that nobody ordered has therefore not happened when it is looked at.
//
//   Queues queues(seed);
//   Queue* q = queues.Make(0, /*blocking=*/false);
//   queues.Add(q, [] { ... });
//   queues.RunTo(queues.Tail(q));
//
// Not thread-safe.

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

// A point in a queue: after the work that was added before.
struct Point {
  Queue* queue;
  uint64_t count;
};
using Points = std::vector<Point>;

struct Work {
  std::function<void()> run;
  Points after;
  std::function<bool()> ready;  // false: `run` would block; null: it never does
};

struct Queue {
  uintptr_t handle = 0;
  int device = 0;
  bool blocking = false;  // waits for the legacy stream, which waits for it
  bool destroyed = false;
  int asked = 0;  // queries since it last ran ahead
  std::deque<Work> work;
  uint64_t added = 0;
  uint64_t done = 0;
  Graph* graph = nullptr;  // the graph of its capture
};

// Captured work.
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

  void Add(Queue* queue, std::function<void()> run, Points after = {},
           std::function<bool()> ready = nullptr);
  Point Tail(Queue* queue) const { return {queue, queue->added}; }
  bool IsDone(const Point& point) const { return point.queue->done >= point.count; }
  // Whether RunTo would block now.
  bool WouldBlock(const Point& point) const;
  void RunTo(const Point& point);
  void RunTo(const Points& points) {
    for (const Point& point : points) RunTo(point);
  }
  void RunDevice(int device);
  // Called between two calls: at random, lets a stream run ahead by some steps.
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
