// Counts calls of operator new and lets it fail where a test wants it: a program that links this
// has its own operator new.
//
//   int failures = ForEachAllocationFailure([] { … });    // first with the first allocation
//   failing,
//                                                         // then with the second, … then with none
//
// What the body checks after catching std::bad_alloc is its own matter; leaks are
// AddressSanitizer's.

#ifndef DOVETAIL_CORE_TESTING_FAILING_NEW_H_
#define DOVETAIL_CORE_TESTING_FAILING_NEW_H_

#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail::inline DOVETAIL_ABI {

// Blocks from operator new that are not deleted yet, on all threads.
int64_t LiveBlocks();

// While one of these lives, the allocation after `allowed` more on this thread fails, once.
class FailingNew {
 public:
  explicit FailingNew(int64_t allowed);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  // Whether it has failed.
  static bool failed();
};

// Calls body() with each of its allocations failing in turn, and at last with none. Returns how
// many failed. The body catches std::bad_alloc itself and allocates the same each time.
template <typename Body>
int ForEachAllocationFailure(Body body) {
  for (int allowed = 0;; ++allowed) {
    FailingNew scope(allowed);
    body();
    if (!FailingNew::failed()) return allowed;
  }
}

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_CORE_TESTING_FAILING_NEW_H_
