#include "dovetail/testing/dlpack/rules.h"

#include <cstdio>
#include <cstdlib>

namespace dovetail::conformance {
namespace {

constexpr Rule kRules[] = {
#define DOVETAIL_DLPACK_RULE(id, level, sentence, source) {id, level, sentence, source},
#include "dovetail/testing/dlpack/rules.inc"
#undef DOVETAIL_DLPACK_RULE
};

}  // namespace

const Rule& RuleOf(std::string_view id) {
  for (const Rule& rule : kRules) {
    if (rule.id == id) return rule;
  }
  std::fprintf(stderr, "there is no rule %.*s\n", static_cast<int>(id.size()), id.data());
  std::abort();
}

}  // namespace dovetail::conformance
