// The part of the suite on programs' own memory (DeviceBackend::MakeAllocator).

#include <atomic>
#include <cstring>
#include <memory>
#include <utility>

#include "dovetail/core/copy.h"
#include "dovetail/core/memory_source.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/testing/backend_conformance.h"
#include "gmock/gmock.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct Counts {
  std::atomic<int> allocations = 0, live = 0;
  std::atomic<bool> ended = false;
};

// Memory of the backend's own allocator, which counts as the program's.
class CountingSource final : public MemorySource {
 public:
  CountingSource(Allocator& own, Counts& counts) : own_(own), counts_(counts) {}
  ~CountingSource() override { counts_.ended = true; }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    absl::StatusOr<void*> data = own_.Allocate(nbytes, stream);
    if (data.ok()) ++counts_.allocations, ++counts_.live;
    return data;
  }
  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    --counts_.live;
    auto uses = std::make_unique<Uses>();
    uses->AddStream(stream, UseKind::kWork);
    own_.Deallocate(data, nbytes, std::move(uses));
  }

 private:
  Allocator& own_;
  Counts& counts_;
};

}  // namespace

TEST_P(BackendConformance, AProgramsOwnMemoryGoesBackToItOnceAndAfterItsWork) {
  constexpr MemoryKind kKind = MemoryKind::kDevice;
  Counts counts;
  ASSERT_TRUE(
      Registry::Global()
          .SetMemorySource(device(), kKind, std::make_unique<CountingSource>(allocator(), counts))
          .ok());
  const absl::StatusOr<Stream> a = backend().CreateStream(device());
  const absl::StatusOr<Stream> b = backend().CreateStream(device());
  ASSERT_TRUE(a.ok() && b.ok());
  {
    Tensor host = *Tensor::Empty({30, 20}, kFloat32);
    for (int i = 0; i < 600; ++i) static_cast<float*>(host.raw_data())[i] = static_cast<float>(i);
    absl::StatusOr<Tensor> x = Copied(host, {.device = device(), .stream = *a});
    ASSERT_TRUE(x.ok()) << x.status();
    const absl::StatusOr<Tensor> y = Copied(*x, {.device = device(), .stream = *b});
    ASSERT_TRUE(y.ok()) << y.status();
    EXPECT_GE(counts.live, 2);
    *x = Tensor();
    ASSERT_TRUE(Tensor::Empty({5}, kFloat32, device()).ok());
    const absl::StatusOr<Tensor> back = Copied(*y, {.device = Device::Cpu()});
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(std::memcmp(back->raw_data(), host.raw_data(), 2400), 0);
  }
  ASSERT_TRUE(backend().Synchronize(*a).ok());
  ASSERT_TRUE(backend().Synchronize(*b).ok());
  Allocator& set = **Registry::Global().GetAllocator(device(), kKind);
  ASSERT_TRUE(set.Trim(0).ok());
  EXPECT_EQ(counts.live, 0);
  EXPECT_EQ(set.Stats().allocations, counts.allocations);
  EXPECT_EQ(set.Stats().allocated_bytes, 0);
  EXPECT_FALSE(counts.ended);
  ASSERT_TRUE(Registry::Global().SetAllocator(device(), kKind, nullptr).ok());
  EXPECT_TRUE(counts.ended);
  ASSERT_TRUE(allocator().Trim(0).ok());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
