// What happens to a tensor, told as it happens; //docs/site:pages_test compares it with
// docs/tracing.md.
//
//   ./bazelw run //examples:tracing

#include <cstdlib>
#include <iostream>

#include "dovetail/copy.h"
#include "dovetail/dovetail.h"
#include "dovetail/trace.h"  // @dovetail//:trace

int main() {
  dovetail::RegisterDefaultBackends();
  const dovetail::TraceSubscription trace([](const dovetail::TraceEvent& event) {
    std::cerr << event << "\n";  // on the thread that did the work
  });
  absl::StatusOr<dovetail::Tensor> x = dovetail::Tensor::Empty({2, 3}, dovetail::kFloat32);
  if (x.ok()) x = dovetail::Copied(*x, {.dtype = dovetail::kFloat16});
  return x.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
