// Runs a check in a child process, and collects what it tells.

#ifndef DOVETAIL_TESTING_DLPACK_CHILD_H_
#define DOVETAIL_TESTING_DLPACK_CHILD_H_

#include <functional>
#include <string>
#include <vector>

#include "dovetail/testing/dlpack/check.h"
#include "dovetail/testing/dlpack/library.h"

namespace dovetail::conformance {

struct Outcome {
  Status status = Status::kKept;
  std::string seen;                  // what was seen, or why the rule does not apply
  std::vector<std::string> structs;  // that the check looked at, in words
  std::string errors;                // what a crashed process wrote to stderr, its first lines
};

using CheckFunction = std::function<void(Check&)>;

// A process that takes longer than 30 seconds has crashed.
Outcome RunInChild(const AnyLibrary& library, const CheckFunction& check);

}  // namespace dovetail::conformance

#endif  // DOVETAIL_TESTING_DLPACK_CHILD_H_
