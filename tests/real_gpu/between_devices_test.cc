// Copies between the first device and each other one of its vendor, compared with the CPU's.
// Skipped where there is one device; DOVETAIL_FORWARDED_DEVICES (tests/forwarding_hip/shared_gpu.h)
// makes several of one GPU.

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/tensor.h"
#include "dovetail/tests/real_gpu/device_under_test.h"
#include "dovetail/tests/real_gpu/random_tensors.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

class BetweenGpus : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (int i = 1; i < *backend().DeviceCount(); ++i) others_.push_back({device().type, i});
    if (others_.empty()) GTEST_SKIP() << "one device";
  }

  const std::vector<Device>& others() const { return others_; }

  static void ExpectSame(const Tensor& t, const Tensor& expected) {
    const Tensor a = *Copied(t, {.device = Device::Cpu()});
    const Tensor b = *Copied(expected, {.device = Device::Cpu()});
    ASSERT_EQ(a.shape(), b.shape());
    ASSERT_EQ(std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()), 0) << t;
  }
  // All elements of the first tensor are 0, of the second 1, …
  static void ExpectEachIsItsIndex(const std::vector<Tensor>& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const Tensor back = *Copied(tensors[i], {.device = Device::Cpu()});
      const auto* values = static_cast<const int32_t*>(back.raw_data());
      EXPECT_EQ(std::count(values, values + back.num_elements(), static_cast<int32_t>(i)),
                back.num_elements())
          << i;
    }
  }
  // The current one, or one of either device.
  std::optional<Stream> AnyStream(Device other, Random& random) {
    const unsigned which = random() % 3;
    if (which == 0) return std::nullopt;
    return *backend().CreateStream(which == 1 ? device() : other);
  }
  void SelectAllocators(Device other, const std::string& name) {
    for (const Device d : {device(), other}) {
      ASSERT_TRUE(backend().SelectAllocator(d, MemoryKind::kDevice, name).ok()) << name;
    }
  }

  // `cases` random views, each copied to the other device and back.
  void CopyRandomViews(Device other, int cases, Random& random) {
    for (int i = 0; i < cases && !HasFatalFailure(); ++i) {
      SCOPED_TRACE(testing::Message() << "case " << i << ", " << other);
      Dims shape(1 + random() % 4);
      for (int64_t& size : shape) size = 1 + random() % 9;
      shape[random() % shape.size()] = 1 + random() % 90;
      Dims order(shape.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      std::vector<SliceSpec> slices(shape.size());
      for (SliceSpec& slice : slices) {
        slice.step = random() % 4 == 0 ? 2 : random() % 6 == 0 ? -1 : 1;
      }
      const auto view = [&](const Tensor& t) {
        Tensor v = t;
        for (size_t d = 0; d < slices.size(); ++d) v = *v.Slice(d, slices[d]);
        return *v.Permute(order);
      };
      const Tensor host = OnHost(shape, kTypes[random() % std::size(kTypes)], random);
      const Tensor zeros = OnHost(shape, host.dtype(), random);
      const Tensor here = *Copied(host, {.device = device()});
      const Tensor there = *Copied(zeros, {.device = other});
      const Tensor back = *Copied(zeros, {.device = device()});
      const std::optional<Stream> stream = AnyStream(other, random);
      ASSERT_TRUE(CopyInto(view(there), view(here), {.stream = stream}).ok());
      const Tensor dense = *Copied(view(there), {.device = device(), .stream = stream});
      ASSERT_TRUE(CopyInto(view(back), view(there), {.stream = stream}).ok());
      ASSERT_TRUE(CopyInto(view(zeros), view(host)).ok());
      ExpectSame(there, zeros);  // what is between the view's elements as well
      ExpectSame(back, zeros);
      ExpectSame(dense, view(host));
    }
  }

 private:
  std::vector<Device> others_;
};

TEST_F(BetweenGpus, RandomViewsArriveAsOnTheCpu) {
  Random random(1);
  for (const Device other : others()) CopyRandomViews(other, Cases(100), random);
}

TEST_F(BetweenGpus, MemoryOfEveryAllocatorArrives) {
  Random random(2);
  for (const Device other : others()) {
    const std::string usual = backend().AllocatorNames(device(), MemoryKind::kDevice).front();
    for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
      SelectAllocators(other, name);
      CopyRandomViews(other, Cases(100) / 10, random);
    }
    SelectAllocators(other, usual);
  }
}

TEST_F(BetweenGpus, LargeTransposesArriveAsOnTheCpu) {
  Random random(3);
  for (const Device other : others()) {
    for (const DType dtype : kTypes) {
      const Tensor host = OnHost({3, 515, 260}, dtype, random);
      const Tensor here = *Copied(host, {.device = device()});
      const Tensor there = *Copied(*here.Transpose(1, 2), {.device = other});
      ExpectSame(there, *host.Transpose(1, 2));
    }
  }
}

// The host waits for nothing before the end.
TEST_F(BetweenGpus, EachCopyComesAfterTheWorkThatIsPendingOnBothSides) {
  for (const Device other : others()) {
    const Stream near = *backend().CreateStream(device()), far = *backend().CreateStream(other);
    const Tensor x = *Tensor::Empty({700, 900}, kInt32, device());
    const Tensor y = *Tensor::Empty({900, 700}, kInt32, other);
    std::vector<Tensor> results;
    for (int32_t i = 0; i < 20; ++i) {
      ASSERT_TRUE(Fill(Tensor(x), &i, {.stream = near}).ok());
      ASSERT_TRUE(CopyInto(*y.Transpose(0, 1), x, {.stream = i % 2 == 0 ? far : near}).ok());
      results.push_back(*Tensor::Empty({350, 900}, kInt32, device()));
      const Tensor half = *y.Transpose(0, 1)->Slice(0, {.step = 2});
      ASSERT_TRUE(CopyInto(results.back(), half, {.stream = i % 3 == 0 ? near : far}).ok());
    }
    ExpectEachIsItsIndex(results);
  }
}

TEST_F(BetweenGpus, MemoryIsUsedAgainAfterTheCopyThatReadIt) {
  for (const Device other : others()) {
    std::vector<Tensor> copies;
    for (int32_t i = 0; i < 20; ++i) {
      const Tensor x = *Tensor::Empty({600, 500, 2}, kInt32, device());
      ASSERT_TRUE(Fill(Tensor(x), &i).ok());
      const Stream stream = *backend().CreateStream(i % 2 == 0 ? device() : other);
      const Tensor view = i % 3 == 0 ? *x.Select(2, 0) : *x.Select(2, 1)->Transpose(0, 1);
      copies.push_back(*Copied(view, {.device = other, .stream = stream}));
    }
    ExpectEachIsItsIndex(copies);
  }
}

TEST_F(BetweenGpus, ThreadsCopyBothWaysAtOnce) {
  for (const Device other : others()) {
    std::vector<std::thread> threads;
    std::vector<int> right(4);
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Random random(t);
        const Tensor host = OnHost({40, 50, 6}, kFloat32, random);
        const Device from = t % 2 == 0 ? device() : other, to = t % 2 == 0 ? other : device();
        for (int i = 0; i < 20; ++i) {
          const Tensor here = *Copied(host, {.device = from});
          const Tensor there = *Copied(*here.Slice(2, {.step = 2}), {.device = to});
          const Tensor a = *Copied(there, {.device = Device::Cpu()});
          const Tensor b = *Copied(*host.Slice(2, {.step = 2}), {.device = Device::Cpu()});
          right[t] += std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, std::vector<int>(4, 20));
  }
}

TEST_F(BetweenGpus, SubByteElementsArriveWithTheirNeighboursUntouched) {
  Random random(4);
  for (const Device other : others()) {
    for (int i = 0; i < Cases(100) / 5; ++i) {
      const Dims shape = {3, 2 + static_cast<int64_t>(random() % 7)};
      const Tensor from = OnHost(shape, kUInt4, random), to = OnHost(shape, kUInt4, random);
      const auto view = [step = 1 + i % 2](const Tensor& t) { return *t.Slice(1, {.step = step}); };
      const Tensor here = *Copied(from, {.device = device()});
      const Tensor there = *Copied(to, {.device = other});
      const std::optional<Stream> stream = AnyStream(other, random);
      ASSERT_TRUE(CopyInto(view(there), view(here), {.stream = stream}).ok());
      ASSERT_TRUE(CopyInto(view(to), view(from)).ok());
      ExpectSame(there, to);
    }
  }
}

}  // namespace
}  // namespace dovetail
