#include "dlpack_conformance/report.h"

#include <algorithm>

#include "dlpack_conformance/rules.h"
#include "dlpack_conformance/text.h"

namespace dlpack_conformance {
namespace {

std::string Failure(const NamedCheck& check, const Outcome& outcome) {
  const Rule& rule = RuleOf(check.rule);
  std::string text =
      Text(rule.id, " (", rule.level, ") is broken: ", check.name, "\n  rule:     ", rule.sentence,
           "\n  document: ", rule.source, "\n  seen:     ", outcome.seen);
  for (const std::string& struct_ : outcome.structs) text += "\n  struct:   " + struct_;
  if (!outcome.errors.empty()) text += "\n  stderr:   " + outcome.errors;
  return text;
}

}  // namespace

Verdict Judge(const NamedCheck& check, const Outcome& outcome, const std::string& known) {
  Verdict verdict;
  const bool broken = outcome.status == Status::kBroken || outcome.status == Status::kCrashed;
  if (broken && known.empty()) {
    verdict.failed = true;
    verdict.text = Failure(check, outcome);
  } else if (broken) {
    verdict.skipped = true;
    verdict.text = Text("a known fault: ", known, "\n", Failure(check, outcome));
  } else if (!known.empty()) {
    verdict.failed = true;
    verdict.text = Text(check.name, " is listed as a known fault (", known,
                        "), and it is none: take it out of the list");
  } else if (outcome.status == Status::kNotApplicable) {
    verdict.skipped = true;
    verdict.text = outcome.seen;
  }
  return verdict;
}

bool Belongs(const std::string& test, const KnownFault& known) {
  const auto plain = [](std::string name) {
    std::replace(name.begin(), name.end(), '-', '_');
    return name + "/";
  };
  const std::string begin = plain(known.test);
  return plain(test).compare(0, begin.size(), begin) == 0;
}

std::string ReasonFor(const std::string& test, const std::vector<KnownFault>& known_faults) {
  for (const KnownFault& known : known_faults) {
    if (Belongs(test, known)) return known.reason;
  }
  return {};
}

std::vector<KnownFault> Unmatched(const std::vector<NamedCheck>& checks,
                                  const std::vector<KnownFault>& known_faults) {
  std::vector<KnownFault> unmatched;
  for (const KnownFault& known : known_faults) {
    const auto belongs = [&](const NamedCheck& check) { return Belongs(check.name, known); };
    if (std::none_of(checks.begin(), checks.end(), belongs)) unmatched.push_back(known);
  }
  return unmatched;
}

}  // namespace dlpack_conformance
