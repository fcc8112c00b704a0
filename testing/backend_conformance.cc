#include "dovetail/testing/backend_conformance.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "gmock/gmock.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using testing::HasSubstr;

// The value, or an exception with the status, by which GoogleTest fails the test.
template <typename T>
T ValueOf(absl::StatusOr<T> result) {
  return std::move(result).value();
}

// 0, 1, 2, … on the host, in a type of whole bytes.
Tensor Pattern(absl::Span<const int64_t> shape, DType dtype) {
  Tensor t = *Tensor::Empty(shape, dtype);
  auto* bytes = static_cast<unsigned char*>(t.raw_data());
  for (int64_t i = 0; i < t.nbytes(); ++i) {
    bytes[i] = static_cast<unsigned char>(i * 7 + i / 251);
  }
  return t;
}

std::vector<unsigned char> Bytes(const Tensor& t) {
  const absl::StatusOr<Tensor> host = Copied(t, {.device = Device::Cpu()});
  EXPECT_TRUE(host.ok()) << host.status();
  if (!host.ok()) return {};
  const auto* bytes = static_cast<const unsigned char*>(host->raw_data());
  return {bytes, bytes + host->nbytes()};
}

// A view of a tensor of rank 3, made alike on the host and on the device.
using View = Tensor (*)(const Tensor&);
constexpr View kViews[] = {
    [](const Tensor& t) { return t; },
    [](const Tensor& t) { return *t.Permute({2, 1, 0}); },
    [](const Tensor& t) { return *t.Permute({1, 0, 2}); },
    [](const Tensor& t) { return *t.Slice(2, {.start = 1, .step = 2}); },
    [](const Tensor& t) { return *t.Slice(0, {.step = -1}); },
    [](const Tensor& t) { return *t.Index({IndexItem::Range({.step = -2}), IndexItem::At(1)}); },
    [](const Tensor& t) { return *t.Select(0, 1)->Transpose(0, 1); },
};

}  // namespace

void BackendConformance::SetUp() {
  const std::string full = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string test = full.substr(0, full.find('/'));
  for (const Exclusion& exclusion : GetParam().exclusions) {
    if (exclusion.test == test) GTEST_SKIP() << exclusion.reason;
  }
  environment_ = GetParam().make();
}

void BackendConformance::TearDown() {
  if (environment_ != nullptr) environment_->Check();
}

TEST_P(BackendConformance, EveryExclusionNamesATest) {
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  const testing::TestSuite& suite = *all.current_test_suite();
  for (const Exclusion& exclusion : GetParam().exclusions) {
    bool is_there = false;
    for (int i = 0; i < suite.total_test_count(); ++i) {
      const std::string name = suite.GetTestInfo(i)->name();
      is_there |= name.substr(0, name.find('/')) == exclusion.test;
    }
    EXPECT_TRUE(is_there) << "the suite has no test " << exclusion.test << " to exclude";
  }
}

TEST_P(BackendConformance, HasANameTypesAndDevices) {
  EXPECT_FALSE(backend().name().empty());
  ASSERT_FALSE(backend().device_types().empty());
  ASSERT_TRUE(backend().DeviceCount().ok()) << backend().DeviceCount().status();
  EXPECT_GE(devices(), 1);
}

TEST_P(BackendConformance, ADeviceThatIsNotThereIsNotFound) {
  const Device beyond = device(devices());
  EXPECT_EQ(backend().GetAllocator(beyond, MemoryKind::kDevice).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(backend().CreateStream(beyond).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(backend().DecodeStream(beyond, std::nullopt).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_P(BackendConformance, MemoryIsAlignedAndApart) {
  std::vector<StorageRef> held;
  for (size_t nbytes : {1, 255, 256, 257, 100000}) {
    absl::StatusOr<StorageRef> s = Storage::Allocate(nbytes, device());
    ASSERT_TRUE(s.ok()) << s.status();
    const bool has_addresses = IsAddressable(device().type);  // else data() is a handle
    const auto begin = reinterpret_cast<uintptr_t>((*s)->data());
    if (has_addresses) {
      EXPECT_EQ(begin % kAllocationAlignment, 0u);
    }
    for (const StorageRef& other : held) {
      const auto there = reinterpret_cast<uintptr_t>(other->data());
      EXPECT_NE(begin, there);
      if (!has_addresses) continue;
      EXPECT_TRUE(begin + nbytes <= there || there + other->nbytes() <= begin);
    }
    held.push_back(*std::move(s));
  }
}

TEST_P(BackendConformance, NoBytesAreNoMemory) {
  EXPECT_EQ(ValueOf(allocator().Allocate(0, Stream::Default(device()))), nullptr);
  allocator().Deallocate(nullptr, 0, nullptr);
  const Tensor t = ValueOf(Tensor::Empty({0, 3}, kFloat32, device()));
  EXPECT_EQ(Bytes(t).size(), 0u);
}

TEST_P(BackendConformance, TooMuchMemoryIsSaidWithTheSize) {
  const absl::Status s = allocator().Allocate(size_t{1} << 60, Stream::Default(device())).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(s.message()), HasSubstr(std::to_string(size_t{1} << 60)));
}

TEST_P(BackendConformance, ElementsOfEverySizeArriveWhole) {
  for (DType dtype : {kUInt8, kInt16, kFloat32, kFloat64, kComplex128, kBFloat16}) {
    for (View view : kViews) {
      const Tensor host = Pattern({3, 4, 5}, dtype);
      const absl::StatusOr<Tensor> dense = Copied(view(host), {.device = device()});
      ASSERT_TRUE(dense.ok()) << dense.status();
      EXPECT_EQ(dense->device(), device());
      EXPECT_EQ(Bytes(*dense), Bytes(view(host))) << dtype << " to the device";
      const Tensor whole = ValueOf(Copied(host, {.device = device()}));
      EXPECT_EQ(Bytes(view(whole)), Bytes(view(host))) << dtype << " from the device";
      EXPECT_EQ(Bytes(ValueOf(Copied(view(whole), {.device = device()}))), Bytes(view(host)))
          << dtype << " on it";
    }
  }
}

TEST_P(BackendConformance, OnlyTheElementsOfAViewAreWritten) {
  for (View view : kViews) {
    const Tensor host = Pattern({4, 5, 6}, kInt16);
    const Tensor there = ValueOf(Copied(host, {.device = device()}));
    const Tensor news = Pattern(view(host).shape(), kInt16);
    ASSERT_TRUE(CopyInto(view(there), news).ok());
    ASSERT_TRUE(CopyInto(view(host), news).ok());
    EXPECT_EQ(Bytes(there), Bytes(host));
    const int16_t element = 77;
    ASSERT_TRUE(Fill(view(there), &element).ok());
    ASSERT_TRUE(Fill(view(host), &element).ok());
    EXPECT_EQ(Bytes(there), Bytes(host));
  }
}

// Whoever performs them: a backend without casts leaves them to the host.
TEST_P(BackendConformance, CastsGiveTheBitsThatTheCpusGive) {
  constexpr DType kTypes[] = {kBool,     kUInt8,   kInt16,        kInt64,    kFloat16,
                              kBFloat16, kFloat32, kFloat8E4M3Fn, kComplex64};
  for (const DType from : kTypes) {
    const Tensor host = Pattern({3, 4, 6}, from);
    const Tensor there = ValueOf(Copied(host, {.device = device()}));
    for (const DType to : kTypes) {
      if (from == to || (from.is_complex() && to != kBool)) continue;
      for (View view : kViews) {
        const Tensor expected = ValueOf(Copied(view(host), {.dtype = to}));
        EXPECT_EQ(Bytes(ValueOf(Copied(view(there), {.dtype = to}))), Bytes(expected))
            << from << " to " << to << " on the device";
        EXPECT_EQ(Bytes(ValueOf(Copied(view(host), {.dtype = to, .device = device()}))),
                  Bytes(expected))
            << from << " to " << to << " to the device";
        EXPECT_EQ(Bytes(ValueOf(Copied(view(there), {.dtype = to, .device = Device::Cpu()}))),
                  Bytes(expected))
            << from << " to " << to << " from the device";
      }
    }
  }
}

TEST_P(BackendConformance, RepeatedElementsAreRead) {
  const Tensor row = Pattern({5}, kFloat32);
  Tensor there = ValueOf(Tensor::Empty({3, 5}, kFloat32, device()));
  ASSERT_TRUE(CopyInto(there, row).ok());
  EXPECT_EQ(Bytes(there), Bytes(*row.BroadcastTo({3, 5})));
  ASSERT_TRUE(CopyInto(there, ValueOf(Copied(row, {.device = device()}))).ok());
  EXPECT_EQ(Bytes(there), Bytes(*row.BroadcastTo({3, 5})));
}

TEST_P(BackendConformance, SubByteElementsThatShareBytesArriveWhole) {
  const Tensor host = Pattern({4, 6}, kFloat4E2M1Fn);
  const Tensor there = ValueOf(Copied(host, {.device = device()}));
  EXPECT_EQ(Bytes(there), Bytes(host));
  EXPECT_EQ(Bytes(*there.Slice(1, {.start = 2, .stop = 5})),
            Bytes(*host.Slice(1, {.start = 2, .stop = 5})));
  EXPECT_EQ(Bytes(*there.Transpose(0, 1)), Bytes(*host.Transpose(0, 1)));
}

TEST_P(BackendConformance, LargeStridedCopiesArriveWhole) {
  const Tensor host = Pattern({900, 1100}, kFloat32);
  const Tensor turned = *host.Transpose(0, 1);
  const Tensor there = ValueOf(Copied(turned, {.device = device()}));
  EXPECT_TRUE(Bytes(there) == Bytes(turned));
  const Tensor back = *Tensor::Empty({900, 1100}, kFloat32);
  ASSERT_TRUE(CopyInto(*back.Transpose(0, 1), there).ok());
  EXPECT_TRUE(Bytes(back) == Bytes(host));
}

TEST_P(BackendConformance, EveryDeviceReachesEveryOther) {
  const Tensor host = Pattern({3, 4, 5}, kFloat32);
  for (int from = 0; from < std::min(devices(), 3); ++from) {
    for (int to = 0; to < std::min(devices(), 3); ++to) {
      const Tensor x = ValueOf(Copied(host, {.device = device(from)}));
      for (View view : kViews) {
        const absl::StatusOr<Tensor> y = Copied(view(x), {.device = device(to)});
        ASSERT_TRUE(y.ok()) << y.status();
        EXPECT_EQ(Bytes(*y), Bytes(view(host)));
      }
    }
  }
}

TEST_P(BackendConformance, PinnedAndManagedMemoryIsReachedByTheHost) {
  for (MemoryKind kind : {MemoryKind::kPinnedHost, MemoryKind::kManaged}) {
    absl::StatusOr<StorageRef> s = Storage::Allocate(240, device(), kind);
    if (absl::IsInvalidArgument(s.status())) continue;  // the device has no such memory
    ASSERT_TRUE(s.ok()) << s.status();
    const Tensor t = ValueOf(Tensor::Make(*s, 0, kFloat32, *Layout::Contiguous({3, 4, 5}), {}));
    const Tensor host = Pattern({3, 4, 5}, kFloat32);
    std::memcpy(t.raw_data(), host.raw_data(), 240);
    EXPECT_EQ(Bytes(ValueOf(Copied(*t.Permute({2, 0, 1}), {.device = device()}))),
              Bytes(*host.Permute({2, 0, 1})));
    EXPECT_EQ(Bytes(t), Bytes(host));
  }
}

TEST_P(BackendConformance, PointersOfItsMemoryAreKnown) {
  const Tensor t = ValueOf(Tensor::Empty({16}, kFloat32, device()));
  const absl::StatusOr<PointerAttributes> known = backend().GetPointerAttributes(t.raw_data());
  ASSERT_TRUE(known.ok()) << known.status();
  EXPECT_EQ(known->device, device());
  EXPECT_EQ(known->kind, MemoryKind::kDevice);
}

TEST_P(BackendConformance, MemoryOfNobodysIsNotFound) {
  int mine = 0;
  EXPECT_EQ(backend().GetPointerAttributes(&mine).status().code(), absl::StatusCode::kNotFound);
}

TEST_P(BackendConformance, NoneIsAStreamCodeAndMinusOneIsNoSynchronisation) {
  EXPECT_TRUE(backend().DecodeStream(device(), std::nullopt).ok());
  absl::StatusOr<StreamRequest> none = backend().DecodeStream(device(), -1);
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->stream.has_value());
  EXPECT_EQ(backend().DecodeStream(device(), -2).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(BackendConformance, AStreamsCodeLeadsBackToIt) {
  const Stream made = ValueOf(backend().CreateStream(device()));
  for (const Stream& stream : {Stream::Default(device()), made}) {
    const absl::StatusOr<std::optional<int64_t>> code = backend().EncodeStream(stream);
    ASSERT_TRUE(code.ok()) << code.status();
    EXPECT_EQ(ValueOf(backend().DecodeStream(device(), *code)).stream, stream);
  }
}

TEST_P(BackendConformance, StreamsAreDistinctAndLast) {
  const Stream a = ValueOf(backend().CreateStream(device()));
  const Stream b = ValueOf(backend().CreateStream(device()));
  EXPECT_NE(a, b);
  EXPECT_TRUE(a.is_lasting());
  EXPECT_NE(a, Stream::Default(device()));
}

TEST_P(BackendConformance, EventsOrderStreams) {
  const Stream a = ValueOf(backend().CreateStream(device()));
  const Stream b = ValueOf(backend().CreateStream(device()));
  const Tensor host = Pattern({64, 64}, kFloat32);
  const Tensor x = ValueOf(Copied(host, {.device = device(), .stream = a}));
  const absl::StatusOr<Event> event = backend().Record(a);
  ASSERT_TRUE(event.ok());
  ASSERT_TRUE(backend().Wait(b, *event).ok());
  const Tensor y = ValueOf(Copied(x, {.device = device(), .stream = b}));
  EXPECT_EQ(Bytes(y), Bytes(host));
  EXPECT_TRUE(backend().HostWait(*event).ok());
  EXPECT_TRUE(backend().Query(*event).value_or(false));
  EXPECT_TRUE(backend().Synchronize(b).ok());
}

TEST_P(BackendConformance, TensorsPassFromStreamToStream) {
  const Tensor host = Pattern({64, 64}, kFloat32);
  Tensor x = ValueOf(Copied(host, {.device = device()}));
  for (int i = 0; i < 8; ++i) {
    StreamScope scope(ValueOf(backend().CreateStream(device())));
    x = ValueOf(Copied(*x.Transpose(0, 1), {.device = device()}));
  }
  EXPECT_EQ(Bytes(x), Bytes(host));
}

TEST_P(BackendConformance, LentMemoryIsGivenBackOnceAndAfterItsWork) {
  const Tensor owner = ValueOf(Copied(Pattern({64}, kFloat32), {.device = device()}));
  const Stream stream = ValueOf(backend().CreateStream(device()));
  std::atomic<int> returned = 0;
  {
    const Tensor lent = ValueOf(Tensor::Make(
        Storage::Adopt(owner.raw_data(), 256, device(),
                       {[](void* n) { ++*static_cast<std::atomic<int>*>(n); }, &returned}),
        0, kFloat32, *Layout::Contiguous({64}), {}));
    const Tensor copy = ValueOf(Copied(lent, {.device = device(), .stream = stream}));
    EXPECT_EQ(returned, 0);
  }
  ASSERT_TRUE(backend().Synchronize(stream).ok());
  ASSERT_TRUE(allocator().Trim(0).ok());
  EXPECT_EQ(returned, 1);
}

TEST_P(BackendConformance, AllocatorsAreChosenByName) {
  for (const std::string& name : backend().AllocatorNames(device(), MemoryKind::kDevice)) {
    ASSERT_TRUE(backend().SelectAllocator(device(), MemoryKind::kDevice, name).ok()) << name;
    {
      const Tensor host = Pattern({3, 4, 5}, kFloat32);
      EXPECT_EQ(Bytes(ValueOf(Copied(host, {.device = device()}))), Bytes(host)) << name;
      const Tensor t = ValueOf(Tensor::Empty({100}, kFloat32, device()));
      EXPECT_EQ(allocator().Stats().allocated_bytes, 400) << name;
      EXPECT_GE(allocator().Stats().reserved_bytes, 400) << name;
    }
    EXPECT_EQ(allocator().Stats().allocated_bytes, 0) << name;
    EXPECT_TRUE(allocator().Trim(0).ok()) << name;
  }
  EXPECT_EQ(backend().SelectAllocator(device(), MemoryKind::kDevice, "none such").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_P(BackendConformance, SharedMemoryIsOpenedAndComesBack) {
  if (absl::IsInvalidArgument(backend().GetAllocator(device(), MemoryKind::kShared).status())) {
    GTEST_SKIP() << "the device has no memory that processes share";
  }
  const Tensor host = Pattern({3, 4, 5}, kInt16);
  std::optional<ipc::Handle> handle;
  {
    Tensor t = ValueOf(ipc::Empty({3, 4, 5}, kInt16, device()));
    ASSERT_TRUE(CopyInto(t, host).ok());
    EXPECT_EQ(allocator(MemoryKind::kShared).Stats().allocated_bytes, 120);
    handle = ValueOf(ipc::Share(*t.Select(1, 2)));
    Tensor opened = ValueOf(ipc::Open(ValueOf(ipc::Handle::FromBytes(handle->ToBytes()))));
    EXPECT_EQ(opened.device(), device());
    EXPECT_EQ(Bytes(opened), Bytes(*host.Select(1, 2)));
    ASSERT_TRUE(CopyInto(opened, *host.Select(1, 0)).ok());
    EXPECT_EQ(Bytes(*t.Select(1, 2)), Bytes(*host.Select(1, 0)));
  }
  EXPECT_EQ(allocator(MemoryKind::kShared).Stats().allocated_bytes, 0);
  // The first trim closes the opened memory, the second releases the block behind it.
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(allocator(MemoryKind::kShared).Trim(0).ok());
  EXPECT_EQ(allocator(MemoryKind::kShared).Stats().reserved_bytes, 0);
  EXPECT_EQ(ipc::Open(*handle).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(BackendConformance, ThreadsWorkSideBySide) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      const Tensor host = Pattern({16 + i, 16}, kFloat32);
      for (int round = 0; round < 10; ++round) {
        const absl::StatusOr<Tensor> x = Copied(*host.Transpose(0, 1), {.device = device()});
        ASSERT_TRUE(x.ok()) << x.status();
        EXPECT_EQ(Bytes(*x->Transpose(0, 1)), Bytes(host));
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
