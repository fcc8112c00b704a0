// Runs a check in a child process, and collects what it tells.

#ifndef DLPACK_CONFORMANCE_CHILD_H_
#define DLPACK_CONFORMANCE_CHILD_H_

#include <functional>
#include <string>
#include <vector>

#include "dlpack_conformance/check.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance {

struct Outcome {
  Status status = Status::kKept;
  std::string seen;                  // what was seen, or why the rule does not apply
  std::vector<std::string> structs;  // that the check looked at, in words
  std::string errors;                // what a crashed process wrote to stderr, its first lines
};

using CheckFunction = std::function<void(Check&)>;

// A process that takes longer than 30 seconds has crashed.
Outcome RunInChild(const AnyLibrary& library, const CheckFunction& check);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_CHILD_H_
