// Large casts: by several threads, without memory, and stopped.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/threads/interruption.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/answers.h"
#include "dovetail/core/testing/failing_new.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/devices/cpu/cast/cast_copy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::HasSubstr;

class LargeCastTest : public testing::Test {
 protected:
  ScopedBackendOverride cpu{MakeCpuBackend()};
};

// Large enough for threads: a single row, several rows, transposes, steps, packed elements.
TEST_F(LargeCastTest, SeveralThreadsWriteWhatOneWrites) {
  std::mt19937 random(1);
  const Tensor bytes = *Tensor::Empty({1031, 1024}, kInt8);
  for (int64_t i = 0; i < bytes.num_elements(); ++i) {
    static_cast<int8_t*>(bytes.raw_data())[i] = static_cast<int8_t>(random());
  }
  const Tensor numbers = *Copied(bytes, {.dtype = kFloat32});
  const Tensor views[] = {numbers,
                          *numbers.Reshape({1031 * 1024}),
                          *numbers.Transpose(0, 1),
                          *numbers.Slice(1, {.start = 3, .stop = 1000}),
                          *numbers.Slice(0, {.step = -1}),
                          *numbers.Slice(1, {.step = -1})};
  for (const Tensor& view : views) {
    for (DType to : {kBFloat16, kFloat64, kInt4}) {
      std::vector<std::string> results;
      for (int count : {1, 2, 5}) {
        const ScopedNumThreads threads(count);
        const Tensor cast = *Copied(view, {.dtype = to});
        results.emplace_back(static_cast<const char*>(cast.raw_data()), cast.nbytes());
        if (to == kInt4) {  // and packed elements as the source
          const Tensor back = *Copied(cast, {.dtype = kFloat32});
          results.back().append(static_cast<const char*>(back.raw_data()), back.nbytes());
        }
      }
      EXPECT_FALSE(results[0] == std::string(results[0].size(), '\0'));
      EXPECT_TRUE(results[1] == results[0]) << view << " to " << to;
      EXPECT_TRUE(results[2] == results[0]) << view << " to " << to;
    }
  }
}

// An allocation that failed on a thread of the pool would end the program; on the calling thread it
// would leave the pool with work that is gone.
TEST_F(LargeCastTest, ALargeCastOfAnyRankAllocatesNothing) {
  const ScopedNumThreads threads(2);
  // In neither order below do two loops merge.
  const std::vector<int64_t> shape = {3, 5, 3, 5, 3, 5, 3, 5, 3, 2, 8};
  Tensor src = *Tensor::Empty(shape, kInt32);
  auto* const first = static_cast<int32_t*>(src.raw_data());
  std::iota(first, first + src.num_elements(), 0);
  const auto expect_no_allocation = [&]<typename T>(const std::vector<int64_t>& order, T) {
    const Tensor from = *src.Permute(order);
    Tensor to = *Copied(from, {.dtype = dtype_of<T>});  // starts the pool's threads
    const T zero = 0;
    ASSERT_TRUE(Fill(to, &zero).ok());
    absl::Status status;
    {
      const FailingNew none(0, Failures::kAllLater);
      status = CastStrided(to.view(), from.view());
      EXPECT_FALSE(FailingNew::failed());
    }
    ASSERT_TRUE(status.ok()) << status;
    const auto expected = from.elements<const int32_t>();
    const T* cast = *to.data<T>();
    int64_t wrong = 0;
    for (const int32_t value : *expected) wrong += *cast++ != static_cast<T>(value);
    EXPECT_EQ(wrong, 0);
  };
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0},
        std::vector<int64_t>{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 10}}) {
    expect_no_allocation(order, float{});
    expect_no_allocation(order, double{});
    expect_no_allocation(order, int16_t{});
  }
}

TEST_F(LargeCastTest, AVeryLargeCastCanBeStopped) {
  Tensor src = *Tensor::Empty({5, 8 << 20}, kFloat32);
  const float one = 1;
  ASSERT_TRUE(Fill(src, &one).ok());
  for (const Tensor& from : {src, *src.Transpose(0, 1)}) {  // rows, and tiles
    for (int count : {1, 2}) {
      const ScopedNumThreads threads(count);
      Tensor dst = *Tensor::Empty(from.shape(), kUInt8);
      std::memset(dst.raw_data(), 0, dst.nbytes());
      Answers answers{.no = 1};
      const ScopedInterruption scope(Answers::Ask, &answers);
      const absl::Status status = CopyInto(dst, from);
      EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
      EXPECT_THAT(std::string(status.message()), HasSubstr("interrupted"));
      EXPECT_EQ(answers.asked, 2);
      const auto* bytes = static_cast<const char*>(dst.raw_data());
      EXPECT_EQ(bytes[0], 1);
      EXPECT_EQ(bytes[dst.nbytes() - 1], 0) << "the cast went on";
    }
  }
}

TEST_F(LargeCastTest, ACastThatNobodyStopsIsWholeAndASmallOneAsksNobody) {
  Answers answers{.no = 100};
  const ScopedInterruption scope(Answers::Ask, &answers);
  Tensor src = *Tensor::Empty({40 << 20}, kUInt8);
  std::memset(src.raw_data(), 7, src.nbytes());
  const Tensor cast = *Copied(src, {.dtype = kInt16});
  EXPECT_EQ(answers.asked, 0);  // the mean of both sides is less than 64 MiB
  const Tensor wide = *Copied(cast, {.dtype = kFloat32});
  EXPECT_GE(answers.asked, 1);
  const auto* values = static_cast<const float*>(wide.raw_data());
  EXPECT_EQ(std::count(values, values + wide.num_elements(), 7.0f), wide.num_elements());
}

}  // namespace
}  // namespace dovetail
