// Each fault of a planted library breaks its rule, and the suite reports no other one.

#include "dlpack_conformance/planted.h"

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
    "producer.read-only",
    "producer.read-only-legacy",
    "producer.copied-flag",
    "producer.copy-true",
    "producer.type",
    "producer.elements",
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
    "consumer.type",
    "consumer.unknown-type",
    "consumer.strides",
    "consumer.null-strides",
    "consumer.unused-strides",
    "consumer.byte-offset",
    "consumer.misaligned",
    "consumer.scalar",
    "consumer.empty",
    "consumer.empty-deletes",
    "consumer.null-data",
    "consumer.impossible",
    "consumer.other-device",
    "consumer.writes-nothing",
};

class PlantedFault : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { planted::fault = GetParam(); }
  void TearDown() override { planted::fault.clear(); }
};

TEST_P(PlantedFault, IsFoundAndNothingElseIsReported) {
  const std::string rule = RuleOfFault(GetParam());
  EXPECT_THAT(RulesBroken(RoleOf(rule)), ElementsAre(rule));
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
  EXPECT_THAT(NotKept(""), IsEmpty());
}

}  // namespace
}  // namespace dlpack_conformance
