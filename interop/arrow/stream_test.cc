#include "dovetail/interop/arrow/stream.h"

#include <cerrno>
#include <deque>
#include <string>
#include <vector>

#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/lists.h"
#include "dovetail/interop/testing/tensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A stream of tensors of one type.
class ArrowStream : public testing::Test {
 protected:
  ArrowArrayStream stream = {&GetSchema, &GetNext, &GetLastError, &Release, this};
  Tensor type = Iota({1});
  int more_lists = 0;    // around that type
  std::string metadata;  // of those lists
  std::deque<Tensor> chunks;
  int schema_error = 0;
  int error = 0;  // of the call after the last chunk
  const char* message = nullptr;
  bool is_endless = false;  // whether arrays without elements follow the chunks
  int64_t empty_arrays = 0;
  int releases = 0;
  int ends = 0;  // calls after the last chunk

  absl::StatusOr<Tensor> Take() { return FromArrow(&stream); }

  static void Release(ArrowArrayStream* stream) {
    ++Of(stream)->releases;
    stream->release = nullptr;
  }

 private:
  static ArrowStream* Of(ArrowArrayStream* stream) {
    return static_cast<ArrowStream*>(stream->private_data);
  }
  static int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
    ArrowArray array;
    EXPECT_TRUE(ToArrow(Of(stream)->type, out, &array).ok());
    array.release(&array);
    for (int i = 0; i < Of(stream)->more_lists; ++i) WrapInLists(1, Of(stream)->metadata, out);
    if (Of(stream)->schema_error != 0) out->release(out);
    return Of(stream)->schema_error;
  }
  static int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
    std::deque<Tensor>& chunks = Of(stream)->chunks;
    if (chunks.empty() && Of(stream)->is_endless) {
      *out = {};
      out->release = [](ArrowArray* array) { array->release = nullptr; };
      ++Of(stream)->empty_arrays;
      return 0;
    }
    if (chunks.empty()) {
      ++Of(stream)->ends;
      out->release = nullptr;
      return Of(stream)->error;
    }
    ArrowSchema schema;
    EXPECT_TRUE(ToArrow(chunks.front(), &schema, out).ok());
    schema.release(&schema);
    chunks.pop_front();
    return 0;
  }
  static const char* GetLastError(ArrowArrayStream* stream) { return Of(stream)->message; }
};

// Rule 64.
TEST_F(ArrowStream, ItsOneArrayIsATensorOverTheSameMemory) {
  const Tensor x = Iota({5});
  chunks = {x};
  absl::StatusOr<Tensor> taken = Take();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->raw_data(), x.raw_data());
  EXPECT_THAT(taken->shape(), ElementsAre(5));
  EXPECT_EQ(releases, 1) << "at once";
  EXPECT_EQ(stream.release, nullptr);
}

TEST_F(ArrowStream, ArraysWithoutElementsArePassedOver) {
  const Tensor x = Iota({5});
  chunks = {Iota({0}), x, Iota({0})};
  absl::StatusOr<Tensor> taken = Take();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->raw_data(), x.raw_data());
}

TEST_F(ArrowStream, NothingButTheTypeIsATensorWithoutElements) {
  chunks = {};
  EXPECT_THAT(Take()->shape(), ElementsAre(0));
  EXPECT_EQ(ends, 1) << "asked on after its end";
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, NothingButATypeOfListsHasTheirSizes) {
  type = Zeros({1, 2, 3}, kInt16);
  absl::StatusOr<Tensor> taken = Take();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_THAT(taken->shape(), ElementsAre(0, 2, 3));
  EXPECT_EQ(taken->dtype(), kInt16);
}

TEST_F(ArrowStream, NothingButATypeOfAsManyListsAsATensorHasDimensionsIsTaken) {
  type = Zeros(std::vector<int64_t>(Layout::kMaxRank, 1), kInt16);
  absl::StatusOr<Tensor> taken = Take();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(taken->rank(), Layout::kMaxRank);
  EXPECT_EQ(taken->num_elements(), 0);
  for (const int more : {1, 2, 100}) {
    stream.release = &Release;
    more_lists = more;
    EXPECT_THAT(Take().status().message(), HasSubstr("at most 64 dimensions")) << more;
  }
  EXPECT_EQ(releases, 4);
}

// Tensors of no dimension: as many levels as a type of numbers may have, and one more.
TEST_F(ArrowStream, TheLastLevelOfATypeCountsToo) {
  metadata = FixedShapeMetadata({});
  more_lists = Layout::kMaxRank;
  absl::StatusOr<Tensor> taken = Take();
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_THAT(taken->shape(), ElementsAre(0));
  stream.release = &Release;
  more_lists = Layout::kMaxRank + 1;
  EXPECT_EQ(Take().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ArrowStream, SeveralArraysAreRefusedWithTheRemedy) {
  chunks = {Iota({2}), Iota({3})};
  const absl::Status status = Take().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("combine_chunks()"));
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, OneThatGivesOnlyArraysWithoutElementsIsRefusedInTheEnd) {
  is_endless = true;
  const absl::Status status = Take().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("1048576 arrays without elements"));
  EXPECT_EQ(empty_arrays, 1048576);
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, TheArraysAfterTheFirstCountToo) {
  chunks = {Iota({2})};
  is_endless = true;
  EXPECT_THAT(Take().status().message(), HasSubstr("1048576 arrays without elements"));
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, ReadingCanBeInterrupted) {
  is_endless = true;
  int asked = 0;
  const ScopedInterruption scope([](void* count) { return ++*static_cast<int*>(count) == 3; },
                                 &asked);
  EXPECT_EQ(Take().status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(empty_arrays, 3);
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, OneWithoutItsFunctionsIsRefused) {
  const ArrowArrayStream whole = stream;
  stream.get_schema = nullptr;
  EXPECT_THAT(Take().status().message(), HasSubstr("get_schema is NULL"));
  stream = whole;
  stream.get_next = nullptr;
  EXPECT_THAT(Take().status().message(), HasSubstr("get_next is NULL"));
  stream = whole;
  stream.get_last_error = nullptr;
  error = EIO;
  EXPECT_THAT(Take().status().message(), testing::EndsWith("Input/output error"));
  EXPECT_EQ(releases, 3);
}

TEST_F(ArrowStream, TheProducersErrorIsHandedOn) {
  schema_error = EIO;
  message = "the disk is gone";
  const absl::Status status = Take().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("Input/output error: the disk is gone"));
  EXPECT_EQ(releases, 1);
}

TEST_F(ArrowStream, AnErrorAfterTheFirstArrayIsHandedOnWithoutAMessageToo) {
  error = ENOMEM;
  chunks = {Iota({2})};
  EXPECT_THAT(Take().status().message(), testing::EndsWith("Cannot allocate memory"));
}

TEST_F(ArrowStream, AStreamThatWasTakenIsRefused) {
  stream.release = nullptr;
  EXPECT_THAT(Take().status().message(), HasSubstr("already released"));
  EXPECT_EQ(releases, 0);
}

}  // namespace
}  // namespace dovetail
