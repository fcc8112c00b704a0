// Strided copies on a GPU, compared with the CPU's: random layouts of every element size, and
// transposes with sizes close to a kernel's tile. DOVETAIL_TEST_CASES sets the number of cases.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/tensor.h"
#include "dovetail/tests/real_gpu/device_under_test.h"
#include "dovetail/tests/real_gpu/random_tensors.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

class GpuCopy : public OnGpu {
 protected:
  // The device and the CPU each make a dense copy of a view; the copies must be equal.
  template <typename View>
  void ExpectSameCopy(const Tensor& host, View view) {
    const Tensor there = *Copied(host, {.device = device()});
    const absl::StatusOr<Tensor> made = Copied(view(there), {.device = device()});
    ASSERT_TRUE(made.ok()) << made.status();
    const Tensor back = *Copied(*made, {.device = Device::Cpu()});
    const Tensor expected = *Copied(view(host), {.device = Device::Cpu()});
    ASSERT_EQ(back.shape(), expected.shape());
    if (expected.num_elements() == 0) return;
    ASSERT_EQ(std::memcmp(back.raw_data(), expected.raw_data(), expected.nbytes()), 0)
        << view(host);
  }
};

TEST_F(GpuCopy, RandomViewsArriveAsOnTheCpu) {
  Random random(1);
  for (int i = 0; i < Cases(300) && !HasFatalFailure(); ++i) {
    Dims shape(1 + random() % 5);
    for (int64_t& size : shape) size = 1 + random() % 7;
    shape[random() % shape.size()] = 1 + random() % 50;
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<SliceSpec> slices(shape.size());
    for (SliceSpec& slice : slices) {
      slice.step = random() % 4 == 0 ? 2 : random() % 6 == 0 ? -1 : 1;
      if (slice.step == 1 && random() % 4 == 0) slice.start = 1;
    }
    const Tensor host = OnHost(shape, kTypes[random() % std::size(kTypes)], random);
    SCOPED_TRACE(testing::Message() << "case " << i);
    ExpectSameCopy(host, [&](const Tensor& t) {
      Tensor view = t;
      for (size_t d = 0; d < slices.size(); ++d) view = *view.Slice(d, slices[d]);
      return *view.Permute(order);
    });
  }
}

TEST_F(GpuCopy, TurnedDimensionsArriveAsOnTheCpu) {
  Random random(2);
  const int64_t sizes[] = {8, 31, 32, 33, 64, 65, 127, 128, 132, 260, 515};
  for (int i = 0; i < Cases(300) && !HasFatalFailure(); ++i) {
    const Dims shape = {1 + static_cast<int64_t>(random() % 3), sizes[random() % std::size(sizes)],
                        sizes[random() % std::size(sizes)]};
    const Tensor host = OnHost(shape, kTypes[random() % std::size(kTypes)], random);
    SCOPED_TRACE(testing::Message() << "case " << i);
    ExpectSameCopy(host, [](const Tensor& t) { return *t.Transpose(1, 2); });
  }
}

TEST_F(GpuCopy, ViewsAreWrittenWithoutTouchingWhatIsBetween) {
  Random random(3);
  for (int i = 0; i < Cases(300) / 10 && !HasFatalFailure(); ++i) {
    const DType dtype = kTypes[random() % std::size(kTypes)];
    const Tensor host = OnHost({40, 60}, dtype, random);
    const Tensor part = OnHost({60, 20}, dtype, random);
    const auto view = [](const Tensor& t) {
      return *t.Slice(0, {.start = 1, .step = 2})->Transpose(0, 1);
    };
    const Tensor there = *Copied(host, {.device = device()});
    ASSERT_TRUE(CopyInto(view(there), *Copied(part, {.device = device()})).ok());
    ASSERT_TRUE(CopyInto(view(host), part).ok());
    const Tensor back = *Copied(there, {.device = Device::Cpu()});
    ASSERT_EQ(std::memcmp(back.raw_data(), host.raw_data(), host.nbytes()), 0);
  }
}

TEST_F(GpuCopy, FillsReachEveryElementOfAView) {
  Random random(4);
  for (DType dtype : kTypes) {
    const Tensor host = OnHost({30, 50}, dtype, random);
    const Tensor there = *Copied(host, {.device = device()});
    unsigned char element[16];
    for (unsigned char& byte : element) byte = static_cast<unsigned char>(random());
    ASSERT_TRUE(Fill(*there.Slice(1, {.step = 3}), element).ok());
    ASSERT_TRUE(Fill(*host.Slice(1, {.step = 3}), element).ok());
    const Tensor back = *Copied(there, {.device = Device::Cpu()});
    ASSERT_EQ(std::memcmp(back.raw_data(), host.raw_data(), host.nbytes()), 0) << dtype;
  }
}

TEST_F(GpuCopy, ABroadcastIsRepeated) {
  Random random(5);
  for (DType dtype : kTypes) {
    const Tensor host = OnHost({1, 77}, dtype, random);
    ExpectSameCopy(host, [](const Tensor& t) { return *t.BroadcastTo({130, 77}); });
  }
}

}  // namespace
}  // namespace dovetail
