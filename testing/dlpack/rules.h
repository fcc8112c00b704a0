// The rules that the suite checks: those of `python -m dovetail.conformance`, by the same names.

#ifndef DOVETAIL_TESTING_DLPACK_RULES_H_
#define DOVETAIL_TESTING_DLPACK_RULES_H_

#include <string_view>

namespace dovetail::conformance {

struct Rule {
  const char* id;        // such as "producer.read-only"
  const char* level;     // "must", "should", "hardening": see docs/conformance.md
  const char* sentence;  // what the rule says
  const char* source;    // the document that states it
};

// Ends the program for an id that no rule has.
const Rule& RuleOf(std::string_view id);

}  // namespace dovetail::conformance

#endif  // DOVETAIL_TESTING_DLPACK_RULES_H_
