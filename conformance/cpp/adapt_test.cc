// Each way in which a library's function may refuse, and what a class may leave out.

#include "dlpack_conformance/adapt.h"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "gtest/gtest.h"

namespace dlpack_conformance::internal {
namespace {

// As absl::Status and absl::StatusOr<int>.
struct Status {
  std::string message;
  bool ok() const { return message.empty(); }
  std::string ToString() const { return message; }
};
struct StatusOrInt {
  Status status_;
  int value = 0;
  bool ok() const { return status_.ok(); }
  const Status& status() const { return status_; }
  int operator*() const { return value; }
};
struct OnlyOk {
  bool ok() const { return false; }
  int operator*() const { return 0; }
};

DLManagedTensor tensor;

TEST(AttemptTest, AValueComesThroughFromWhateverHoldsIt) {
  EXPECT_EQ(Attempt<int>([] { return 3; }).value, 3);
  EXPECT_EQ(Attempt<int>([] { return std::optional<int>(3); }).value, 3);
  EXPECT_EQ(Attempt<int>([] { return StatusOrInt{{}, 3}; }).value, 3);
  EXPECT_EQ(Attempt<DLManagedTensor*>([] { return &tensor; }).value, &tensor);
  const auto keep = [](DLManagedTensor*) {};
  EXPECT_EQ(Attempt<DLManagedTensor*>([&] {
              return std::unique_ptr<DLManagedTensor, decltype(keep)>(&tensor, keep);
            }).value,
            &tensor);
  EXPECT_TRUE(Attempt<bool>([] {}));
  EXPECT_TRUE(Attempt<bool>([] { return Status{}; }));
}

TEST(AttemptTest, ARefusalSaysWhy) {
  EXPECT_EQ(Attempt<int>([]() -> int { throw std::runtime_error("no"); }).refusal, "no");
  EXPECT_EQ(Attempt<int>([]() -> int { throw 1; }).refusal,
            "an exception of an unknown type is thrown");
  EXPECT_EQ(Attempt<int>([] { return std::optional<int>(); }).refusal, "nothing is returned");
  EXPECT_EQ(Attempt<int>([] { return StatusOrInt{{"no"}, 0}; }).refusal, "no");
  EXPECT_EQ(Attempt<int>([] { return OnlyOk(); }).refusal, "its result is not ok()");
  EXPECT_EQ(Attempt<bool>([] { return Status{"no"}; }).refusal, "no");
  EXPECT_EQ(Attempt<bool>([] { return false; }).refusal, "false is returned");
  EXPECT_EQ(Attempt<DLManagedTensor*>([]() -> DLManagedTensor* { return nullptr; }).refusal,
            "a null pointer is returned");
  EXPECT_EQ(Attempt<DLManagedTensor*>([] { return std::unique_ptr<DLManagedTensor>(); }).refusal,
            "a null pointer is returned");
}

struct Consumer {
  using Array = int;
  static int ImportLegacy(DLManagedTensor*) { return 1; }
  static Seen Look(int) { return {}; }
};

TEST(AdaptedTest, AClassMayHaveOneFunctionAlone) {
  const Adapted<Consumer> library;
  EXPECT_TRUE(library.imports(Kind::kLegacy));
  EXPECT_FALSE(library.imports(Kind::kVersioned));
  EXPECT_FALSE(library.exports(Kind::kLegacy));
  EXPECT_FALSE(library.Make({}));
  const Result<ArrayPtr> y = library.Import(Managed(&tensor));
  ASSERT_TRUE(y);
  EXPECT_TRUE((*y.value)->Look());
  EXPECT_EQ((*y.value)->Write().refusal, "there is no Write()");
  EXPECT_FALSE((*y.value)->Export(Kind::kLegacy));
}

// A library in C: handles that a function frees, NULL for a refusal.
struct Handle {
  int* freed;
};
void Free(Handle* handle) {
  ++*handle->freed;
  delete handle;
}

struct LibraryInC {
  using Array = std::unique_ptr<Handle, void (*)(Handle*)>;
  inline static int freed = 0;
  inline static bool refuses = false;
  static Array ImportLegacy(DLManagedTensor*) {
    return {refuses ? nullptr : new Handle{&freed}, &Free};
  }
  static Seen Look(const Array&) { return {}; }
};

TEST(AdaptedTest, AHandleOfCIsAUniquePointer) {
  const Adapted<LibraryInC> library;
  Result<ArrayPtr> y = library.Import(Managed(&tensor));
  ASSERT_TRUE(y);
  EXPECT_EQ((*y.value)->Copy(), nullptr);
  EXPECT_EQ(LibraryInC::freed, 0);
  y.value.reset();
  EXPECT_EQ(LibraryInC::freed, 1);
  LibraryInC::refuses = true;
  EXPECT_EQ(library.Import(Managed(&tensor)).refusal, "a null pointer is returned");
}

}  // namespace
}  // namespace dlpack_conformance::internal
