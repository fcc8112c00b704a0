// Threads for what Dovetail computes itself, which is copies.
//
//   ParallelFor(parts, [&](int64_t part) { … });     // returns when all parts are done
//   absl::Status s = SetNumThreads(2);
//
// One pool serves the process. Its threads are started when the first work that is worth them
// comes, look out for more for a tenth of a millisecond, sleep until the next, and are never
// joined. A child process made by fork() has none of them, and starts its own.

#ifndef DOVETAIL_CORE_PARALLEL_H_
#define DOVETAIL_CORE_PARALLEL_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The most threads that one piece of work uses, the calling thread included. At first, the number
// of processors that the process may run on. Threads: any.
int GetNumThreads();

inline constexpr int kMostThreads = 4096;

// InvalidArgument below 1 and above kMostThreads. 1: all work is done by the thread that asks for
// it. Work in progress is not affected, nor are threads that exist ended. Threads: any.
absl::Status SetNumThreads(int64_t count);

// Calls body(0) … body(parts - 1), in any order and on several threads at a time, this one among
// them. On this thread alone where it is called from two threads at once or from within a body, and
// where no thread can be started. `body` must not throw. Threads: any.
void ParallelFor(int64_t parts, absl::FunctionRef<void(int64_t)> body);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_PARALLEL_H_
