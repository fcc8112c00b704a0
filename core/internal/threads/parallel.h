// ParallelFor: runs copies on several threads.
//
//   ParallelFor(parts, [&](int64_t part) { … });     // returns when all parts are done
//   absl::Status s = SetNumThreads(2);
//
// One pool serves the process. Its threads start with the first parallel work. After each piece of
// work they spin for 0.1 ms, then sleep until the next one. They are never joined, and
// block the signals that a program handles. A child process made by fork() has none of these
// threads and starts its own.

#ifndef DOVETAIL_CORE_INTERNAL_THREADS_PARALLEL_H_
#define DOVETAIL_CORE_INTERNAL_THREADS_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The most threads that one piece of work uses, including the calling thread. The default is the
// number of processors that the process may run on. Any thread.
int GetNumThreads();

inline constexpr int kMostThreads = 4096;

// InvalidArgument below 1 and above kMostThreads. With 1, the calling thread does all its work.
// Work in progress is not affected, and existing threads are not ended. Any thread.
absl::Status SetNumThreads(int64_t count);

// Calls body(0) … body(parts - 1), in any order, on several threads including this one. Uses this
// thread alone if the pool is working for another thread, if it is called from within a body, or if
// no thread can be started, be it for want of memory. `body` must not throw: the program may end
// then. Any thread.
void ParallelFor(int64_t parts, absl::FunctionRef<void(int64_t)> body);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_THREADS_PARALLEL_H_
