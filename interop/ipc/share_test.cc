// What a backend or a description makes impossible. tests/ipc has what is possible, in several
// processes.

#include "dovetail/interop/ipc/share.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/fake_backend.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/interop/ipc/open.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

// A GPU whose memory can be shared.
class FakeGpu : public FakeBackend {
 public:
  explicit FakeGpu(FakeLog* log) : FakeBackend({DeviceType::kMetal}, log) {}

  absl::StatusOr<MemoryShare> ShareMemory(Device, void*, size_t, const Uses*,
                                          const Stream&) override {
    return MemoryShare{"a name", offset};
  }
  absl::Status OrderBefore(Uses&, const Stream&) override { return order; }
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override {
    return copy.ok() ? FakeBackend::Copy(dst, src, stream) : copy;
  }

  int64_t offset = 100;
  absl::Status order, copy;
};

class IpcShare : public testing::Test {
 protected:
  static constexpr Device kGpu = {DeviceType::kMetal, 0};

  // A tensor that does not start where its memory does.
  Tensor OnGpu() {
    return *Tensor::Make(Storage::Adopt(memory_.data(), sizeof memory_, kGpu, {}), 8, kInt32,
                         *Layout::Contiguous({2}), {});
  }
  FakeGpu& gpu() { return static_cast<FakeGpu&>(*Registry::Global().Find(DeviceType::kMetal)); }

  FakeLog log_;
  std::optional<ScopedBackendOverride> backend_{std::make_unique<FakeGpu>(&log_)};

 private:
  std::array<int32_t, 4> memory_ = {};
};

TEST_F(IpcShare, TheHandleCountsFromTheStartOfWhatIsOpened) {
  EXPECT_EQ(Share(OnGpu())->byte_offset, 108);
  gpu().offset = INT64_MAX - 7;
  EXPECT_THAT(Share(OnGpu()).status().message(), HasSubstr("beyond the address space"));
}

TEST_F(IpcShare, WorkThatCannotBeOrderedIsAnError) {
  const Tensor t = OnGpu();
  t.storage()->RecordUse(FakeStream(kGpu, 7));
  gpu().order = absl::InternalError("No order.");
  EXPECT_EQ(Share(t).status(), gpu().order);
}

TEST_F(IpcShare, ACopyIsOnTheTensorsDeviceAndAnErrorWhereItFails) {
  const absl::StatusOr<Tensor> copy = CopyToShared(OnGpu());
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(copy->device(), kGpu);
  gpu().copy = absl::InternalError("No copy.");
  EXPECT_EQ(CopyToShared(OnGpu()).status(), gpu().copy);
}

TEST_F(IpcShare, ACopyIsRefusedInAScopeWithoutCopies) {
  const Tensor t = OnGpu();
  {
    const NoCopiesScope scope;
    EXPECT_EQ(CopyToShared(t).status(), NoCopiesScope::Check());
  }
  EXPECT_TRUE(CopyToShared(t).ok());
}

TEST_F(IpcShare, ANullTensorIsAnError) {
  EXPECT_EQ(Share(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(CopyToShared(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(IpcShare, WithoutABackendMemoryIsNeitherSharedNorMadeNorCopied) {
  backend_.reset();
  EXPECT_EQ(Share(OnGpu()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Empty({2}, kInt32, kGpu).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(CopyToShared(OnGpu()).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(IpcShare, WithoutElementsNoBackendIsNeeded) {
  backend_.reset();
  const Tensor t = *Open(*Share(*OnGpu().Slice(0, {.start = 2})));
  EXPECT_EQ(t.device(), kGpu);
  EXPECT_EQ(t.dtype(), kInt32);
  EXPECT_EQ(t.num_elements(), 0);
}

TEST_F(IpcShare, ShapesThatNoMemoryHoldsAreErrors) {
  EXPECT_THAT(Empty({-1}, kInt32, kGpu).status().message(), HasSubstr("negative"));
  EXPECT_THAT(Empty({INT64_MAX}, kInt32, kGpu).status().message(), HasSubstr("64-bit"));
  EXPECT_EQ(log_.allocated, 0);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
