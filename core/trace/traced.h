// What Dovetail's own packages tell a trace (trace.h) of their work.
//
//   return Traced([=] { return AllocationEvent(nbytes, device); },
//                 [=] { return allocator.Allocate(nbytes); });
//
// Untraced work costs one test of a number. exchange.h has the same for exchanges.

#ifndef DOVETAIL_CORE_TRACE_TRACED_H_
#define DOVETAIL_CORE_TRACE_TRACED_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/base/attributes.h"
#include "dovetail/core/config.h"
#include "dovetail/core/trace/observed.h"
#include "dovetail/core/trace/trace.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_trace {

int64_t Now();  // steady_clock, in nanoseconds
// Tells all subscriptions. Only while IsObserved().
void Tell(const TraceEvent& event);

// The number of copies and casts of which this thread told.
int64_t CopiesOfThisThread();

// The message of an absl::Status or StatusOr; "" if it is OK.
template <typename Result>
std::string_view MessageOf(const Result& result ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  if constexpr (requires { result.message(); }) {
    return result.message();
  } else {
    return result.status().message();
  }
}

// Takes the functions by value: what they capture then needs no place in the memory of an untraced
// caller.
template <typename Describe, typename Work>
[[gnu::noinline, gnu::cold]] auto TellOf(Describe describe, Work work) {
  auto event = describe();
  event.start_ns = Now();
  auto result = work();
  event.duration_ns = Now() - event.start_ns;
  event.reason = MessageOf(result);
  Tell(event);
  return result;
}

// Calls `work`, which returns an absl::Status or StatusOr. While something is subscribed, tells of
// the TraceEvent that `describe` makes, with the time that the work took. On a hot path, `work`
// captures no local variable by reference and is always_inline.
template <typename Describe, typename Work>
[[gnu::always_inline]] inline auto Traced(Describe describe, Work work) {
  if (IsObserved()) [[unlikely]]
    return TellOf(std::move(describe), std::move(work));
  return work();
}

}  // namespace internal_trace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TRACE_TRACED_H_
