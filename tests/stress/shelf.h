// Places where threads leave objects for each other.
//
//   Shelf<Held> shelf;                                   // an object has one owner at a time
//   std::unique_ptr<Held> taken = shelf.Swap(random, std::move(mine));
//   SharedShelf<Held> shared;                            // several threads read one object
//   std::shared_ptr<const Held> seen = shared.Look(random);
//
// Any thread. A thread sees what the thread that left the object did before, and nothing else is
// ordered: ThreadSanitizer then finds what the objects themselves fail to order.

#ifndef DOVETAIL_TESTS_STRESS_SHELF_H_
#define DOVETAIL_TESTS_STRESS_SHELF_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace dovetail::stress {

// The same numbers for the same seed, on every machine. Not thread-safe.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // 0 to n - 1.
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }

 private:
  std::mt19937_64 engine_;
};

inline constexpr int kPlaces = 32;

template <typename T>
class Shelf {
 public:
  Shelf() = default;
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;
  ~Shelf() { Clear(); }

  // Leaves `object`, or nothing, at a random place. Returns what lay there, which may be nothing.
  std::unique_ptr<T> Swap(Random& random, std::unique_ptr<T> object) {
    auto& place = places_[random.Below(kPlaces)];
    return std::unique_ptr<T>(place.exchange(object.release(), std::memory_order_acq_rel));
  }
  std::unique_ptr<T> Take(Random& random) { return Swap(random, nullptr); }
  void Clear() {
    for (auto& place : places_) delete place.exchange(nullptr, std::memory_order_acq_rel);
  }

 private:
  std::array<std::atomic<T*>, kPlaces> places_ = {};
};

template <typename T>
class SharedShelf {
 public:
  // What lies at a random place, or nullptr.
  std::shared_ptr<const T> Look(Random& random) {
    Place& place = places_[random.Below(kPlaces)];
    absl::MutexLock lock(&place.mutex);
    return place.object;
  }
  void Put(Random& random, std::shared_ptr<const T> object) {
    Place& place = places_[random.Below(kPlaces)];
    absl::MutexLock lock(&place.mutex);
    place.object.swap(object);  // the parameter, and so the old object, outlives the lock
  }
  void Clear() {
    for (Place& place : places_) {
      absl::MutexLock lock(&place.mutex);
      place.object = nullptr;
    }
  }

 private:
  struct Place {
    absl::Mutex mutex;
    std::shared_ptr<const T> object ABSL_GUARDED_BY(mutex);
  };
  std::array<Place, kPlaces> places_;
};

}  // namespace dovetail::stress

#endif  // DOVETAIL_TESTS_STRESS_SHELF_H_
