#include "dovetail/devices/gpu/vendor/dynamic_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr char kVariable[] = "DOVETAIL_TEST_LIBRARY";

std::string In(std::string_view file) { return absl::StrCat(std::getenv("FOLDER"), "/", file); }

void LoadForAnother(const std::string& file) {
  ASSERT_NE(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
}

// A library with the function of testing/number.cc. The numbers in `refused` don't start.
class Numbers final : public DynamicLibrary {
 public:
  explicit Numbers(std::vector<std::string> names, std::vector<int> refused = {})
      : DynamicLibrary({"test library", kVariable, " (a hint)"}),
        names_(std::move(names)),
        refused_(std::move(refused)) {}

  std::vector<int> started;
  std::function<void()> when_started = [] {};

 private:
  std::vector<std::string> FileNames() const override { return names_; }
  std::vector<SymbolSlot> FindSlots() override {
    return {{"dovetail_number", reinterpret_cast<void**>(&number_), Need::kRequired}};
  }
  bool StartUp(const std::string& file, std::string* reason) override {
    started.push_back(number_());
    when_started();
    *reason = file + " does not start";
    return std::find(refused_.begin(), refused_.end(), number_()) == refused_.end();
  }

  const std::vector<std::string> names_;
  const std::vector<int> refused_;
  int (*number_)() = nullptr;
};

// The C library's mathematics, with the functions of `slots`.
class Functions final : public DynamicLibrary {
 public:
  explicit Functions(std::vector<SymbolSlot> slots)
      : DynamicLibrary({"test library", kVariable}), slots_(std::move(slots)) {}

 private:
  std::vector<std::string> FileNames() const override {
    return {"libno_such_library.so.9", "libm.so.6"};
  }
  std::vector<SymbolSlot> FindSlots() override { return slots_; }
  bool StartUp(const std::string&, std::string*) override { return true; }

  const std::vector<SymbolSlot> slots_;
};

TEST(DynamicLibrary, FillsTheSlotsFromTheFirstNameThatThereIs) {
  void* cosine = nullptr;
  void* nothing = &cosine;
  Functions library(
      {{"cos", &cosine, Need::kRequired}, {"no_such_function", &nothing, Need::kOptional}});
  std::string reason;
  ASSERT_TRUE(library.Load(&reason)) << reason;
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(cosine)(0), 1.0);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_THAT(library.file(), EndsWith("/libm.so.6"));
}

TEST(DynamicLibrary, EveryMissingFunctionIsNamedAndNoSlotIsFilled) {
  void* cosine = nullptr;
  void* a = nullptr;
  void* b = nullptr;
  Functions library({{"cos", &cosine, Need::kRequired},
                     {"missing_a", &a, Need::kRequired},
                     {"missing_b", &b, Need::kRequired}});
  std::string reason;
  EXPECT_FALSE(library.Load(&reason));
  EXPECT_THAT(reason, HasSubstr("libm.so.6 lacks missing_a, missing_b"));
  EXPECT_EQ(cosine, nullptr);
}

TEST(DynamicLibrary, AMissingFileIsNamed) {
  Numbers library({"libno_such_library.so.9"});
  std::string reason;
  EXPECT_FALSE(library.Load(&reason));
  EXPECT_THAT(reason, StartsWith("no test library that can be used: libno_such_library.so.9: "));
  EXPECT_THAT(reason, EndsWith("(a hint)"));
}

TEST(DynamicLibrary, AFailureIsRepeatedUntilACopyIsLoadedAndNoCopyStartsTwice) {
  Numbers library({In("broken/libdovetail_a.so.1")}, /*refused=*/{2});
  std::string reason;
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(library.Load(&reason));
    EXPECT_THAT(reason, HasSubstr("broken/libdovetail_a.so.1 lacks dovetail_number"));
  }
  LoadForAnother(In("a/libdovetail_a.so.2"));
  for (int again = 0; again < 2; ++again) {
    EXPECT_FALSE(library.Load(&reason));
    EXPECT_THAT(reason, EndsWith("a/libdovetail_a.so.2 does not start"));
  }
  LoadForAnother(In("wheel/libdovetail_a-1a2b.so"));
  EXPECT_TRUE(library.Load(&reason)) << reason;
  EXPECT_THAT(library.started, ElementsAre(2, 3));
  EXPECT_THAT(library.Files(),
              ElementsAre(EndsWith("wheel/libdovetail_a-1a2b.so"),
                          EndsWith("broken/libdovetail_a.so.1"), EndsWith("a/libdovetail_a.so.2")));
}

TEST(DynamicLibrary, ACopyThatIsLoadedDuringTheSearchIsFoundByIt) {
  Numbers library({In("c/libdovetail_c.so.1")}, /*refused=*/{1});
  library.when_started = [] { LoadForAnother(In("c/libdovetail_c.so.2")); };
  std::string reason;
  EXPECT_TRUE(library.Load(&reason)) << reason;
  EXPECT_THAT(library.started, ElementsAre(1, 2));
}

TEST(DynamicLibrary, TheVariableChoosesTheFileWhateverIsLoaded) {
  LoadForAnother(In("b/libdovetail_b.so.2"));
  setenv(kVariable, In("b/libdovetail_b.so.1").c_str(), 1);
  Numbers library({"libdovetail_b.so.2"});
  std::string reason;
  EXPECT_TRUE(library.Load(&reason)) << reason;
  unsetenv(kVariable);
  EXPECT_THAT(library.started, ElementsAre(1));
  EXPECT_THAT(library.Files(),
              ElementsAre(EndsWith("libdovetail_b.so.1"), EndsWith("libdovetail_b.so.2")));
}

TEST(DynamicLibrary, AChosenFileThatCannotBeUsedIsNamedWithTheVariable) {
  setenv(kVariable, "/no/such/file.so", 1);
  std::string reason;
  EXPECT_FALSE(Numbers({"libm.so.6"}).Load(&reason));
  EXPECT_EQ(reason,
            "no test library that can be used: DOVETAIL_TEST_LIBRARY names a library that can't be "
            "opened: /no/such/file.so: cannot open shared object file: No such file or directory");
  setenv(kVariable, "libm.so.6", 1);
  EXPECT_FALSE(Numbers({In("b/libdovetail_b.so.1")}).Load(&reason));
  EXPECT_THAT(reason, HasSubstr("libm.so.6 lacks dovetail_number"));
  EXPECT_THAT(reason, EndsWith("(DOVETAIL_TEST_LIBRARY names this file)"));
  unsetenv(kVariable);
}

TEST(DynamicLibrary, OneOfManyThreadsStartsTheLibrary) {
  Numbers library({In("b/libdovetail_b.so.1")});
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      std::string reason;
      EXPECT_TRUE(library.Load(&reason)) << reason;
      EXPECT_THAT(library.file(), HasSubstr("libdovetail_b.so."));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(library.started.size(), 1u);
}

}  // namespace
}  // namespace dovetail::gpu
