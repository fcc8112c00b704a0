// Whether anything watches what Dovetail does: a TraceSubscription (core/trace/trace.h). Hot paths
// ask this and nothing else; what follows is off their way.
//
//   if (IsObserved()) [[unlikely]] return TellOf(describe, work);      // as Traced() of traced.h

#ifndef DOVETAIL_CORE_TRACE_OBSERVED_H_
#define DOVETAIL_CORE_TRACE_OBSERVED_H_

#include <atomic>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

// The number of observers in the process. Hidden, so that reading it is one instruction.
DOVETAIL_NOT_SHARED extern std::atomic<int> observers;

// Counts an observer for its own lifetime.
class Observer {
 public:
  Observer() { observers.fetch_add(1, std::memory_order_relaxed); }
  ~Observer() { observers.fetch_sub(1, std::memory_order_relaxed); }
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
};

inline bool IsObserved() { return observers.load(std::memory_order_relaxed) != 0; }

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_OBSERVED_H_
