// What a test says of the outcome of its check.

#ifndef DLPACK_CONFORMANCE_REPORT_H_
#define DLPACK_CONFORMANCE_REPORT_H_

#include <string>
#include <vector>

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/child.h"
#include "dlpack_conformance/register.h"

namespace dlpack_conformance {

struct Verdict {
  bool failed = false;
  bool skipped = false;
  std::string text;
};

// `known` is the reason of a known fault, or empty.
Verdict Judge(const NamedCheck& check, const Outcome& outcome, const std::string& known);

// Whether a test belongs to a known fault: it has the fault's name, or begins with its parts.
bool Belongs(const std::string& test, const KnownFault& known);

// The reason of the known fault to which a test belongs; empty if there is none.
std::string ReasonFor(const std::string& test, const std::vector<KnownFault>& known_faults);

// The known faults to which none of the tests belongs: misspelt ones.
std::vector<KnownFault> Unmatched(const std::vector<NamedCheck>& checks,
                                  const std::vector<KnownFault>& known_faults);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_REPORT_H_
