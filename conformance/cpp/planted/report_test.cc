// What the tests of the suite say, seen with a planted library.

#include <string>
#include <vector>

#include "dlpack_conformance/planted/planted.h"
#include "dlpack_conformance/report.h"
#include "dlpack_conformance/suite.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dlpack_conformance {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

DLPACK_CONFORMANCE(Planted, planted::Library);

const AnyLibrary& PlantedLibrary() {
  static const auto* const library = new internal::Adapted<planted::Library>();
  return *library;
}

// What the test of a check says while the library has a fault.
Verdict VerdictOf(const std::string& name, const std::string& fault,
                  const std::vector<KnownFault>& known = {}) {
  for (const NamedCheck& check : AllChecks(PlantedLibrary())) {
    if (check.name != name) continue;
    planted::fault = fault;
    const Outcome outcome = RunInChild(PlantedLibrary(), check.function);
    planted::fault.clear();
    return Judge(check, outcome, ReasonFor(name, known));
  }
  ADD_FAILURE() << "there is no check " << name;
  return {};
}

TEST(ReportTest, AKeptRuleSaysNothing) {
  const Verdict verdict = VerdictOf("producer.flags/versioned", "");
  EXPECT_FALSE(verdict.failed || verdict.skipped);
  EXPECT_EQ(verdict.text, "");
}

TEST(ReportTest, AFailureShowsTheRuleItsDocumentWhatWasSeenAndTheStruct) {
  const Verdict verdict = VerdictOf("producer.flags/versioned", "producer.flags");
  EXPECT_TRUE(verdict.failed);
  EXPECT_THAT(verdict.text, HasSubstr("producer.flags (should) is broken"));
  EXPECT_THAT(verdict.text, HasSubstr("Flags of a plain array are 0"));
  EXPECT_THAT(verdict.text,
              HasSubstr("dlpack.h 1.3: \"By default the flags should be set to 0.\""));
  EXPECT_THAT(verdict.text, HasSubstr("the flags are 8"));
  EXPECT_THAT(verdict.text, HasSubstr("DLManagedTensorVersioned: version 1.3, flags 0x8, data 0x"));
  EXPECT_THAT(verdict.text, HasSubstr("type float32, shape [3, 4], strides [4, 1]"));
  EXPECT_THAT(verdict.text, HasSubstr(": 0100000003000000 "));  // the version's bytes
}

TEST(ReportTest, ACrashSaysWhereItWas) {
  const Verdict verdict = VerdictOf("consumer.null-deleter/legacy", "consumer.null-deleter");
  EXPECT_TRUE(verdict.failed);
  EXPECT_THAT(verdict.text, HasSubstr("Segmentation fault (signal 11) while it drops the array"));
  EXPECT_THAT(verdict.text, HasSubstr("deleter NULL"));
}

TEST(ReportTest, AnAccessIsShownWithItsPlace) {
  EXPECT_THAT(VerdictOf("consumer.read-only/versioned", "consumer.read-only").text,
              HasSubstr("the tensor's memory is written, at byte 0"));
  EXPECT_THAT(VerdictOf("consumer.deletes/versioned", "consumer.deletes early").text,
              HasSubstr("the tensor's memory is read or written after the deleter was called"));
}

TEST(ReportTest, AKnownFaultIsSkippedWhileItIsThereAndFailsOnceItIsGone) {
  const std::vector<KnownFault> known = {{"consumer.null-data", "callers look"}};
  const Verdict there = VerdictOf("consumer.null-data/legacy", "consumer.null-data", known);
  EXPECT_TRUE(there.skipped);
  EXPECT_FALSE(there.failed);
  EXPECT_THAT(there.text, HasSubstr("a known fault: callers look"));
  const Verdict gone = VerdictOf("consumer.null-data/legacy", "", known);
  EXPECT_TRUE(gone.failed);
  EXPECT_THAT(gone.text, HasSubstr("take it out of the list"));
}

TEST(ReportTest, AKnownFaultIsNamedByTheFirstPartsOfTheTestsName) {
  const std::string test = "consumer.unknown-type/versioned/no_lanes";
  for (const char* name : {"consumer.unknown-type", "consumer.unknown_type/versioned",
                           "consumer.unknown-type/versioned/no_lanes"}) {
    EXPECT_EQ(ReasonFor(test, {{name, "why"}}), "why") << name;
  }
  for (const char* name : {"consumer.unknown", "consumer.unknown-type/legacy", "no_lanes"}) {
    EXPECT_EQ(ReasonFor(test, {{name, "why"}}), "") << name;
  }
}

TEST(ReportTest, AKnownFaultThatNoTestHasIsToldApart) {
  const std::vector<KnownFault> unmatched =
      Unmatched(AllChecks(PlantedLibrary()), {{"consumer.strides", ""}, {"consumer.strdes", ""}});
  ASSERT_EQ(unmatched.size(), 1u);
  EXPECT_EQ(unmatched[0].test, "consumer.strdes");
}

TEST(ReportTest, TestsAreNamedByTheirRulesAndFiltersFindThem) {
  std::vector<std::string> names;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *tests.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      names.push_back(std::string(suite.name()) + "." + suite.GetTestInfo(j)->name());
    }
  }
  EXPECT_THAT(names, IsSupersetOf({"Planted/DLPackConformance.producer.read_only/versioned",
                                   "Planted/DLPackConformance.consumer.strides/legacy/reversed"}));
}

}  // namespace
}  // namespace dlpack_conformance
