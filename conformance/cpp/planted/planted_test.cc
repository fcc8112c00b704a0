// Each fault of a planted library breaks its rule, and the suite reports no other one.

#include "dlpack_conformance/planted/planted.h"

#include <cctype>
#include <map>
#include <set>
#include <string>

#include "dlpack_conformance/adapt.h"
#include "dlpack_conformance/checks.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dlpack_conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const AnyLibrary& PlantedLibrary() {
  static const auto* const library = new internal::Adapted<planted::Library>();
  return *library;
}

std::string RuleOfFault(const std::string& fault) { return fault.substr(0, fault.find(' ')); }
std::string RoleOf(const std::string& rule) { return rule.substr(0, rule.find('.')); }

// Maps each check that is not kept to what was seen.
std::map<std::string, std::string> NotKept(const std::string& role) {
  std::map<std::string, std::string> found;
  for (const NamedCheck& check : AllChecks(PlantedLibrary())) {
    if (!role.empty() && RoleOf(check.rule) != role) continue;
    const Outcome outcome = RunInChild(PlantedLibrary(), check.function);
    if (outcome.status != Status::kKept) found[check.name] = outcome.seen;
  }
  return found;
}

std::set<std::string> RulesBroken(const std::string& role) {
  std::set<std::string> rules;
  for (const NamedCheck& check : AllChecks(PlantedLibrary())) {
    if (RoleOf(check.rule) != role) continue;
    const Outcome outcome = RunInChild(PlantedLibrary(), check.function);
    if (outcome.status != Status::kBroken && outcome.status != Status::kCrashed) continue;
    EXPECT_NE(outcome.seen, "") << check.name;
    EXPECT_THAT(outcome.structs, testing::Not(IsEmpty())) << check.name;
    rules.insert(check.rule);
  }
  return rules;
}

const char* const kFaults[] = {
    "producer.device-id",
    "producer.version",
    "producer.flags",
    "producer.flags READ_ONLY",
    "producer.copied-only",
    "producer.read-only",
    "producer.read-only-legacy",
    "producer.copied-flag",
    "producer.copy-true",
    "producer.type",
    "producer.elements",
    "producer.elements int16",
    "producer.elements legacy",
    "producer.elements copy",
    "producer.strides",
    "producer.scalar",
    "producer.empty",
    "producer.deleter",
    "producer.deleter NULL",
    "producer.lifetime",
    "producer.repeated",
    "consumer.accepts",
    "consumer.deletes",
    "consumer.deletes twice",
    "consumer.deletes early",
    "consumer.deletes a copy",
    "consumer.null-deleter",
    "consumer.null-context",
    "consumer.refuses-cleanly",
    "consumer.refuses-cleanly differently",
    "consumer.refuses-cleanly leaks",
    "consumer.major",
    "consumer.minor",
    "consumer.read-only",
    "consumer.read-only-ignored",
    "consumer.type",
    "consumer.unknown-type",
    "consumer.strides",
    "consumer.strides float64",
    "consumer.strides legacy",
    "consumer.null-strides",
    "consumer.unused-strides",
    "consumer.byte-offset",
    "consumer.byte-offset scalar",
    "consumer.byte-offset legacy",
    "consumer.misaligned",
    "consumer.scalar",
    "consumer.empty",
    "consumer.empty-deletes",
    "consumer.null-data",
    "consumer.impossible",
    "consumer.other-device",
    "consumer.writes-nothing",
};

// Rules that the fault of another one breaks, too.
std::set<std::string> WithoutItsOthers(const std::string& fault, std::set<std::string> rules) {
  static const auto* const others = new std::map<std::string, std::set<std::string>>{
      {"producer.type", {"producer.elements"}},
      {"consumer.type", {"consumer.strides", "consumer.byte-offset"}},
      {"consumer.misaligned", {"consumer.strides", "consumer.byte-offset"}},
      {"consumer.unused-strides", {"consumer.strides"}},
  };
  const auto it = others->find(fault);
  if (it == others->end()) return rules;
  for (const std::string& other : it->second) rules.erase(other);
  return rules;
}

class PlantedFault : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { planted::fault = GetParam(); }
  void TearDown() override { planted::fault.clear(); }
};

TEST_P(PlantedFault, IsFoundAndNothingElseIsReported) {
  const std::string rule = RuleOfFault(GetParam());
  EXPECT_THAT(WithoutItsOthers(rule, RulesBroken(RoleOf(rule))), ElementsAre(rule));
}

INSTANTIATE_TEST_SUITE_P(Rules, PlantedFault, testing::ValuesIn(kFaults), [](const auto& info) {
  std::string name = info.param;
  for (char& letter : name) letter = std::isalnum(letter) ? letter : '_';
  return name;
});

TEST(PlantedLibraryTest, EachRuleOfTheSuiteHasAFault) {
  std::set<std::string> checked, broken;
  for (const NamedCheck& check : AllChecks(PlantedLibrary())) checked.insert(check.rule);
  for (const char* fault : kFaults) broken.insert(RuleOfFault(fault));
  EXPECT_EQ(checked, broken);
}

TEST(PlantedLibraryTest, WithoutAFaultEveryRuleIsKeptInEveryCase) {
  std::map<std::string, std::string> not_kept = NotKept("");
  not_kept.erase("consumer.read-only-ignored/versioned");  // of libraries without such arrays
  EXPECT_THAT(not_kept, IsEmpty());
}

}  // namespace
}  // namespace dlpack_conformance
