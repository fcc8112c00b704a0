// What happens to tensors, told as it happens, and a scope without copies: the target
// @dovetail//:trace.
//
//   const dovetail::TraceSubscription trace(
//       [](const dovetail::TraceEvent& event) { std::cerr << event << "\n"; });

#ifndef DOVETAIL_TRACE_H_
#define DOVETAIL_TRACE_H_

#include "dovetail/core/trace/no_copies.h"  // IWYU pragma: export
#include "dovetail/core/trace/trace.h"      // IWYU pragma: export

#endif  // DOVETAIL_TRACE_H_
