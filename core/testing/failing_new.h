// Counts calls of operator new and lets it fail where a test wants it: a program that links this
// has its own operator new.
//
//   int failures = ForEachAllocationFailure(
//       [&] { … },           // first with the first allocation failing, then with the second, …
//       [&] { EXPECT_… });   // after each
//
// Leaks show in LiveBlocks(), and under AddressSanitizer.

#ifndef DOVETAIL_CORE_TESTING_FAILING_NEW_H_
#define DOVETAIL_CORE_TESTING_FAILING_NEW_H_

#include <cstdint>
#include <new>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

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

// Calls body() with each of its allocations failing in turn, and at last with none; after each
// call, check(), with allocation working again. Returns how many failed. The body allocates the
// same each time, and may let std::bad_alloc through.
template <typename Body, typename Check>
int ForEachAllocationFailure(Body body, Check check) {
  for (int allowed = 0;; ++allowed) {
    bool failed;
    {
      FailingNew scope(allowed);
      try {
        body();
      } catch (const std::bad_alloc&) {
      }
      failed = FailingNew::failed();
    }
    check();
    if (!failed) return allowed;
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_FAILING_NEW_H_
