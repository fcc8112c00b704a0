#include "dovetail/interop/arrow/import.h"

#include <string>
#include <thread>

#include "dovetail/core/testing/failing_new.h"
#include "dovetail/interop/arrow/lent_array.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ArrowImport : public testing::Test {
 protected:
  LentArray lent;

  absl::StatusOr<Tensor> Take() { return FromArrow(&lent.schema, &lent.array); }
  std::string Refusal() {
    absl::StatusOr<Tensor> tensor = Take();
    EXPECT_EQ(tensor.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(lent.releases, 1);
    EXPECT_EQ(lent.schema_releases, 1);
    EXPECT_EQ(lent.array.release, nullptr);
    EXPECT_EQ(lent.schema.release, nullptr);
    return std::string(tensor.status().message());
  }
};

// Rule 62.
TEST_F(ArrowImport, SharesTheValuesAndReleasesTheArrayWithTheLastTensor) {
  absl::StatusOr<Tensor> tensor = Take();
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->dtype(), kFloat32);
  EXPECT_EQ(tensor->device(), Device::Cpu());
  EXPECT_THAT(tensor->shape(), ElementsAre(8));
  EXPECT_EQ(tensor->raw_data(), lent.values.data());
  EXPECT_EQ(tensor->storage()->nbytes(), 32u);
  EXPECT_EQ(lent.schema_releases, 1) << "the schema says nothing more";
  EXPECT_EQ(lent.array.release, nullptr) << "moved away";
  Tensor view = *tensor->Slice(0, {.start = 3});
  *tensor = Tensor();
  EXPECT_EQ(lent.releases, 0);
  lent.values[3] = 30;
  EXPECT_EQ(**view.data<const float>(), 30);
  view = Tensor();
  EXPECT_EQ(lent.releases, 1);
}

TEST_F(ArrowImport, IsReadOnlySinceArrowsDataNeverChange) {
  absl::StatusOr<Tensor> tensor = Take();
  EXPECT_TRUE(tensor->is_read_only());
  EXPECT_FALSE(tensor->data<float>().ok());
}

TEST_F(ArrowImport, TheLastTensorMayGoOnAnotherThread) {
  absl::StatusOr<Tensor> tensor = Take();
  std::thread([moved = *std::move(tensor)]() mutable { moved = Tensor(); }).join();
  EXPECT_EQ(lent.releases, 1);
}

TEST_F(ArrowImport, TheOffsetCountsElements) {
  lent.array.offset = 3;
  lent.array.length = 4;
  absl::StatusOr<Tensor> tensor = Take();
  EXPECT_EQ(tensor->raw_data(), &lent.values[3]);
  EXPECT_EQ(tensor->num_elements(), 4);
  EXPECT_EQ(tensor->storage()->nbytes(), 16u);
}

TEST_F(ArrowImport, NoElementsNeedNoValues) {
  lent.array.length = 0;
  lent.array.offset = 5;
  lent.buffers[1] = nullptr;
  lent.array.null_count = -1;
  const uint8_t bits = 0;
  lent.buffers[0] = &bits;
  absl::StatusOr<Tensor> tensor = Take();
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->num_elements(), 0);
  EXPECT_EQ(tensor->raw_data(), nullptr);
}

// Rule 62.
TEST_F(ArrowImport, NullsAreRefusedWithTheRemedy) {
  lent.array.null_count = 2;
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("2 of its 8"), HasSubstr("fill_null")));
}

// Rule 62.
TEST_F(ArrowImport, NullsThatNobodyCountedAreCountedWithinTheSlice) {
  const uint8_t bits[] = {0b1011'1110, 0b0000'0001};  // 0, 6 and 9… are null
  for (int offset = 0; offset <= 8; ++offset) {
    for (int length = 0; length + offset <= 9; ++length) {
      LentArray sliced;
      std::array<double, 9> values = {};
      sliced.schema.format = "g";
      sliced.buffers[0] = bits;
      sliced.buffers[1] = values.data();
      sliced.array.null_count = -1;
      sliced.array.offset = offset;
      sliced.array.length = length;
      const bool has_null = (offset == 0 && length > 0) || (offset <= 6 && offset + length > 6);
      EXPECT_EQ(FromArrow(&sliced.schema, &sliced.array).ok(), !has_null) << offset << length;
    }
  }
}

TEST_F(ArrowImport, ALongBitmapIsCountedToo) {
  std::array<uint8_t, 32> bits;
  bits.fill(0xff);
  std::array<int8_t, 256> values = {};
  lent.schema.format = "c";
  lent.array = {.length = 251,
                .null_count = -1,
                .offset = 3,
                .n_buffers = 2,
                .buffers = lent.buffers,
                .release = lent.array.release,
                .private_data = &lent};
  lent.buffers[0] = bits.data();
  lent.buffers[1] = values.data();
  bits[31] = 0x3f;  // 254 and 255 are null, and outside
  bits[0] = 0xf8;   // 0 to 2 are null, and outside
  bits[17] = 0xef;
  EXPECT_THAT(Refusal(), HasSubstr(": 1 of its 251"));
}

TEST_F(ArrowImport, ABitmapWithoutNullsAndNoBitmapAreBothFine) {
  const uint8_t bits = 0xff;
  lent.array.null_count = -1;
  lent.buffers[0] = &bits;
  EXPECT_TRUE(Take().ok());
  LentArray without;
  without.array.null_count = -1;
  EXPECT_TRUE(FromArrow(&without.schema, &without.array).ok());
}

TEST_F(ArrowImport, ImpossibleNullCountsAreRefused) {
  lent.array.null_count = -2;
  EXPECT_THAT(Refusal(), HasSubstr("null count is -2"));
  LentArray more;
  more.array.null_count = 9;
  EXPECT_THAT(FromArrow(&more.schema, &more.array).status().message(), HasSubstr("9, with 8"));
}

TEST_F(ArrowImport, TypesThatTensorsDoNotHoldAreRefused) {
  lent.schema.format = "u";
  EXPECT_THAT(Refusal(), HasSubstr("text"));
}

TEST_F(ArrowImport, ASchemaWithoutFormatIsRefused) {
  lent.schema.format = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("format"));
}

TEST_F(ArrowImport, DictionariesAreRefused) {
  ArrowSchema dictionary = {};
  lent.schema.dictionary = &dictionary;
  EXPECT_THAT(Refusal(), HasSubstr("dictionary_decode"));
}

TEST_F(ArrowImport, DictionariesOfTheArrayAloneAreRefused) {
  ArrowArray dictionary = {};
  lent.array.dictionary = &dictionary;
  EXPECT_THAT(Refusal(), HasSubstr("dictionary_decode"));
}

TEST_F(ArrowImport, ChildrenAreRefused) {
  lent.array.n_children = 1;
  EXPECT_THAT(Refusal(), HasSubstr("a number type, but it has 1 children"));
}

TEST_F(ArrowImport, AnyOtherNumberOfBuffersIsRefused) {
  lent.array.n_buffers = 3;
  EXPECT_THAT(Refusal(), HasSubstr("3 buffers, and an array of numbers has 2"));
}

TEST_F(ArrowImport, MissingBuffersAreRefused) {
  lent.array.buffers = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("0 buffers"));
}

TEST_F(ArrowImport, ElementsWithoutValuesAreRefused) {
  lent.buffers[1] = nullptr;
  EXPECT_THAT(Refusal(), HasSubstr("no values"));
}

TEST_F(ArrowImport, NegativeLengthsAndOffsetsAreRefused) {
  lent.array.length = -1;
  EXPECT_THAT(Refusal(), HasSubstr("length is -1"));
  LentArray offset;
  offset.array.offset = -4;
  EXPECT_THAT(FromArrow(&offset.schema, &offset.array).status().message(), HasSubstr("-4"));
}

TEST_F(ArrowImport, LengthsBeyondTheAddressSpaceAreRefused) {
  for (auto [offset, length] : {std::pair{INT64_MAX, int64_t{8}},
                                {int64_t{0}, INT64_MAX / 2},
                                {int64_t{0}, INT64_MAX / 4}}) {
    LentArray huge;
    huge.array.offset = offset;
    huge.array.length = length;
    if (length == INT64_MAX / 4) huge.buffers[1] = reinterpret_cast<void*>(UINTPTR_MAX / 4 * 3);
    EXPECT_THAT(FromArrow(&huge.schema, &huge.array).status().message(),
                HasSubstr("address space"));
    EXPECT_EQ(huge.releases, 1);
  }
}

TEST_F(ArrowImport, WhatWasReleasedIsRefusedAndNotReleasedAgain) {
  lent.array.release = nullptr;
  EXPECT_THAT(Take().status().message(), HasSubstr("already released or consumed"));
  EXPECT_EQ(lent.releases, 0);
  EXPECT_EQ(lent.schema_releases, 1);
}

TEST_F(ArrowImport, ASchemaThatWasReleasedIsRefusedToo) {
  lent.schema.release = nullptr;
  EXPECT_THAT(Take().status().message(), HasSubstr("already released or consumed"));
  EXPECT_EQ(lent.releases, 1);
  EXPECT_EQ(lent.schema_releases, 0);
}

// Rules 30, 62.
TEST_F(ArrowImport, RunningOutOfMemoryReleasesOnce) {
  for (bool fails : {true, false}) {
    int imports = 0;
    ForEachAllocationFailure(
        [&] {
          LentArray fresh;
          struct Check {
            LentArray& lent;
            ~Check() { EXPECT_EQ(lent.releases + lent.schema_releases, 2); }
          } check{fresh};
          if (fails) fresh.schema.format = "u";
          Tensor tensor = FromArrow(&fresh.schema, &fresh.array).value_or(Tensor());
          imports += !tensor.is_null();
        },
        [] {});
    EXPECT_EQ(imports, fails ? 0 : 1);
  }
}

}  // namespace
}  // namespace dovetail
