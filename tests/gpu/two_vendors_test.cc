// Two vendors' GPUs in one process: copies between them, and work of one on memory of the other.
// Each backend is also used through the C struct of core/abi, as if it came from another wheel.

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using testing::IsEmpty;

class TwoVendors : public testing::TestWithParam<bool> {
 protected:
  using Emulator = emulator::Emulator;

  TwoVendors() { Register(cuda, cuda_backend), Register(rocm, rocm_backend); }
  void TearDown() override {
    scopes.clear();
    EXPECT_THAT(cuda.TakeComplaints(), IsEmpty());
    EXPECT_THAT(rocm.TakeComplaints(), IsEmpty());
  }

  void Register(Emulator& gpu, DeviceBackend*& backend) {
    std::unique_ptr<DeviceBackend> made = gpu::MakeGpuBackend(gpu.api());
    if (GetParam()) made = *ImportBackend(ExportBackend(std::move(made)));
    backend = made.get();
    scopes.push_back(std::make_unique<ScopedBackendOverride>(std::move(made)));
  }

  ScopedBackendOverride cpu{MakeCpuBackend()};
  Emulator cuda{{.vendor = &gpu::kCudaTraits}}, rocm{{.vendor = &gpu::kRocmTraits}};
  DeviceBackend *cuda_backend, *rocm_backend;
  std::vector<std::unique_ptr<ScopedBackendOverride>> scopes;
};
INSTANTIATE_TEST_SUITE_P(Ways, TwoVendors, testing::Bool(), [](const auto& info) {
  return std::string(info.param ? "ThroughTheStruct" : "Directly");
});

TEST_P(TwoVendors, CopiesOfAnySizeAndLayoutArrive) {
  const Tensor host = Counting({3, 700, 1000});  // 8.4 MB: three pieces
  const Tensor x = *Copied(host, {.device = Device::Cuda(1)});
  EXPECT_EQ(Values(*Copied(x, {.device = Device::Rocm(0)})), Values(host));
  const Tensor y = *Copied(*x.Transpose(0, 2), {.device = Device::Rocm(1)});
  const Tensor z = *Tensor::Empty({3, 700, 1000}, kInt32, Device::Cuda(0));
  ASSERT_TRUE(CopyInto(*z.Transpose(0, 2), y).ok());
  EXPECT_EQ(Values(z), Values(host));
}

TEST_P(TwoVendors, AStreamOfEitherSideOrdersACopy) {
  const Tensor host = Counting({64});
  const Tensor x = *Tensor::Empty({64}, kInt32, Device::Cuda(0));
  const Stream at_cuda = *cuda_backend->CreateStream(Device::Cuda(0));
  const Stream at_rocm = *rocm_backend->CreateStream(Device::Rocm(0));
  for (const Stream& stream : {at_cuda, at_rocm}) {
    ASSERT_TRUE(CopyInto(Tensor(x), host, {.stream = at_cuda}).ok());  // pending
    Tensor y = *Tensor::Empty({64}, kInt32, Device::Rocm(0));
    ASSERT_TRUE(CopyInto(y, x, {.stream = stream}).ok());
    EXPECT_EQ(Values(y), Values(host));
  }
}

TEST_P(TwoVendors, ElementsOfLessThanAByteArriveWithTheirNeighboursUntouched) {
  const Tensor host = *Tensor::Empty({8}, kUInt4);
  std::memset(host.raw_data(), 0x77, 4);
  const Tensor dst = *Copied(host, {.device = Device::Rocm(0)});
  std::memset(host.raw_data(), 0x11, 4);
  const Tensor src = *Copied(host, {.device = Device::Cuda(0)});
  ASSERT_TRUE(CopyInto(*dst.Slice(0, {.stop = 5}), *src.Slice(0, {.stop = 5})).ok());
  const Tensor back = *Copied(dst, {.device = Device::Cpu()});
  EXPECT_EQ(std::string(static_cast<const char*>(back.raw_data()), 4), "\x11\x11\x71\x77");
}

// ---- Work of one vendor on memory of the other, and of the host ----

// Rule 49.
TEST_P(TwoVendors, AStreamWaitsForAnEventOfTheOther) {
  const Stream at_rocm = *rocm_backend->CreateStream(Device::Rocm(0));
  const Tensor source = Pinned(Counting({64}), Device::Rocm(0));
  const Tensor x = *Copied(source, {.device = Device::Rocm(0), .stream = at_rocm});
  const Event event = *rocm_backend->Record(at_rocm);
  EXPECT_FALSE(*rocm_backend->Query(event));
  const Stream at_cuda = *cuda_backend->CreateStream(Device::Cuda(0));
  ASSERT_TRUE(cuda_backend->Wait(at_cuda, event).ok());
  EXPECT_TRUE(*rocm_backend->Query(event)) << "the host waited";
  EXPECT_TRUE(*cuda_backend->Query(event));
  EXPECT_TRUE(cuda_backend->HostWait(event).ok());
  // So it does for the CPU, whose only stream is done with its work at once.
  const Event later = *cuda_backend->Record(at_cuda);
  DeviceBackend* const host = *BackendFor(Device::Cpu());
  ASSERT_TRUE(host->Wait(Stream::Default(Device::Cpu()), later).ok());
  EXPECT_TRUE(*cuda_backend->Query(later));
}

// Rule 50.
TEST_P(TwoVendors, MemoryGoesBackAfterTheWorkOfTheOther) {
  const Stream at_rocm = *rocm_backend->CreateStream(Device::Rocm(0));
  std::vector<int32_t> values(64, 7);
  struct Lender {
    DeviceBackend* backend;
    std::optional<Event> event;
    int returned_early = 0, returned = 0;
  } lender{.backend = rocm_backend};
  void* const on_cuda = cuda.Malloc(0, 256);
  for (const Device device : {Device::Cuda(0), Device::Cpu()}) {
    StorageRef lent = Storage::Adopt(device == Device::Cpu() ? values.data() : on_cuda, 256, device,
                                     {[](void* context) {
                                        auto* l = static_cast<Lender*>(context);
                                        ++l->returned;
                                        l->returned_early += !*l->backend->Query(*l->event);
                                      },
                                      &lender});
    const Tensor x = *Copied(Counting({64}), {.device = Device::Rocm(0), .stream = at_rocm});
    lender.event = *rocm_backend->Record(at_rocm);
    lent->RecordUse(*lender.event);
    if (device != Device::Cpu()) lent->RecordUse(at_rocm);
    lent = StorageRef();
  }
  ASSERT_TRUE((*cuda_backend->GetAllocator(Device::Cuda(0), MemoryKind::kDevice))->Trim(0).ok());
  EXPECT_EQ(lender.returned, 2);
  EXPECT_EQ(lender.returned_early, 0);
  cuda.Free(on_cuda);
}

TEST_P(TwoVendors, AllocatedMemoryIsReusedAfterTheWorkOfTheOther) {
  const Stream at_rocm = *rocm_backend->CreateStream(Device::Rocm(0));
  for (int i = 0; i < 3; ++i) {
    Tensor t = *Tensor::Empty({64}, kInt32, Device::Cuda(0));
    const Tensor x = *Copied(Counting({64}), {.device = Device::Rocm(0), .stream = at_rocm});
    const Event event = *rocm_backend->Record(at_rocm);
    t.storage()->RecordUse(event);
    t.storage()->RecordUse(at_rocm);
    t = Tensor();
    EXPECT_TRUE(*rocm_backend->Query(event));
  }
}

}  // namespace
}  // namespace dovetail
