// Counts the blocks of operator new, and lets it fail where a test wants it to. A program that
// links this replaces operator new.
//
//   int failures = ForEachAllocationFailure(
//       [&] { … },           // first with the first allocation failing, then with the second, …
//       [&] { EXPECT_… });   // after each
//
// LiveBlocks() and AddressSanitizer show leaks.

#ifndef DOVETAIL_CORE_TESTING_FAILING_NEW_H_
#define DOVETAIL_CORE_TESTING_FAILING_NEW_H_

#include <cstdint>
#include <new>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The number of blocks from operator new that are not yet deleted, on all threads.
int64_t LiveBlocks();

enum class Failures { kOne, kAllLater };

// While it lives, the next `allowed` allocations of this thread succeed. The one after them fails,
// or all after them.
class FailingNew {
 public:
  explicit FailingNew(int64_t allowed, Failures failures = Failures::kOne);
  ~FailingNew();
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;

  // Whether that allocation has failed.
  static bool failed();
};

// Calls body() once for each of its allocations, with that one failing, and at last with none
// failing. Calls check() after each call, with allocations working again. Returns the number of
// failures. body() must make the same allocations each time, and may throw std::bad_alloc. With
// kAllLater, what body() does after the failure finds no memory either.
template <typename Body, typename Check>
int ForEachAllocationFailure(Body body, Check check, Failures failures = Failures::kOne) {
  for (int allowed = 0;; ++allowed) {
    bool failed;
    {
      FailingNew scope(allowed, failures);
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
