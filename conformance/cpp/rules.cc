#include "dlpack_conformance/rules.h"

#include <cstdio>
#include <cstdlib>

namespace dlpack_conformance {
namespace {

constexpr Rule kRules[] = {
#define DLPACK_CONFORMANCE_RULE(id, level, sentence, source) {id, level, sentence, source},
#include "dlpack_conformance/rules.inc"
#undef DLPACK_CONFORMANCE_RULE
};

}  // namespace

const Rule& RuleOf(std::string_view id) {
  for (const Rule& rule : kRules) {
    if (rule.id == id) return rule;
  }
  std::fprintf(stderr, "there is no rule %.*s\n", static_cast<int>(id.size()), id.data());
  std::abort();
}

}  // namespace dlpack_conformance
