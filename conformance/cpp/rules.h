// The rules that the suite checks: those of `python -m dlpack_conformance`, by the same names.

#ifndef DLPACK_CONFORMANCE_RULES_H_
#define DLPACK_CONFORMANCE_RULES_H_

#include <string_view>

namespace dlpack_conformance {

struct Rule {
  const char* id;        // such as "producer.read-only"
  const char* level;     // "must", "should", "hardening": see ../README.md
  const char* sentence;  // what the rule says
  const char* source;    // the document that states it
};

// Ends the program for an id that no rule has.
const Rule& RuleOf(std::string_view id);

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_RULES_H_
