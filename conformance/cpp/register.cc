#include "dlpack_conformance/register.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "dlpack_conformance/checks.h"
#include "dlpack_conformance/report.h"
#include "gtest/gtest.h"

namespace dlpack_conformance {
namespace {

class ConformanceTest : public testing::Test {
 public:
  ConformanceTest(std::shared_ptr<const AnyLibrary> library, NamedCheck check, std::string known,
                  const char* file, int line)
      : library_(std::move(library)),
        check_(std::move(check)),
        known_(std::move(known)),
        file_(file),
        line_(line) {}

 private:
  void TestBody() override {
    RecordProperty("rule", check_.rule);
    const Outcome outcome = RunInChild(*library_, check_.function);
    const Verdict verdict = Judge(check_, outcome, known_);
    if (verdict.failed) ADD_FAILURE_AT(file_, line_) << verdict.text;
    if (verdict.skipped) GTEST_SKIP() << verdict.text;
  }

  const std::shared_ptr<const AnyLibrary> library_;
  const NamedCheck check_;
  const std::string known_;  // why the library has a known fault here; empty: it has none
  const char* const file_;
  const int line_;
};

class MisspeltTest : public testing::Test {
 public:
  MisspeltTest(KnownFault known, const char* file, int line)
      : known_(std::move(known)), file_(file), line_(line) {}

 private:
  void TestBody() override {
    ADD_FAILURE_AT(file_, line_) << known_.test
                                 << " is listed as a known fault, and no test has this name";
  }

  const KnownFault known_;
  const char* const file_;
  const int line_;
};

// In filters of GoogleTest, - begins what is left out.
std::string TestNameOf(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

int RegisterDLPackConformance(const char* name, const std::shared_ptr<const AnyLibrary>& library,
                              const std::vector<KnownFault>& known_faults, const char* file,
                              int line) {
  const std::string suite = std::string(name) + "/DLPackConformance";
  const std::vector<NamedCheck> checks = AllChecks(*library);
  for (const NamedCheck& check : checks) {
    const std::string known = ReasonFor(check.name, known_faults);
    testing::RegisterTest(suite.c_str(), TestNameOf(check.name).c_str(), nullptr, nullptr, file,
                          line, [=]() -> ConformanceTest* {
                            return new ConformanceTest(library, check, known, file, line);
                          });
  }
  for (const KnownFault& known : Unmatched(checks, known_faults)) {
    testing::RegisterTest((suite + "/known_faults").c_str(), TestNameOf(known.test).c_str(),
                          nullptr, nullptr, file, line,
                          [=]() -> MisspeltTest* { return new MisspeltTest(known, file, line); });
  }
  return static_cast<int>(checks.size());
}

}  // namespace dlpack_conformance
