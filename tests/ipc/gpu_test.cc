// Which GPU memory can be shared, how work on it is ordered, and forged handles.

#include <cstddef>
#include <cstring>
#include <memory>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/tests/ipc/shared_gpu.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_P(SharedGpuTest, AnotherProcessSeesTheWorkBeforeAndItsWritesAreSeenHere) {
  ChildProcess child(Borrower());
  Tensor t = Counting6();
  const Stream stream = MakeStream();
  const Tensor nines = OnDevice(*Copied(Counting({2, 3}), {.device = Device::Cpu()}));
  ASSERT_TRUE(CopyInto(t, *nines.BroadcastTo({2, 3}), {.stream = stream})
                  .ok());  // pending on another stream
  const ipc::Handle handle = *ipc::Share(*t.Slice(1, {.start = 1}));
  EXPECT_EQ(OpenIn(child, handle),
            absl::StrCat("int32 tensor of shape (2, 2), strides (3, 1), on ", device().ToString()));
  EXPECT_EQ(FirstIn(child), 1);
  child.Send('w');
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_THAT(Values(t), ElementsAre(0, 7, 7, 3, 7, 7));
  EXPECT_TRUE(LetGoIn(child));
}

TEST_P(SharedGpuTest, TheBorrowersStreamWaitsForTheOwnersEvent) {
  ChildProcess child(Borrower());
  const Tensor t = Counting6();
  OpenIn(child, *ipc::Share(t));
  child.Send('c');
  EXPECT_EQ(child.Receive<emulator::CallCounts>().stream_waits, 0);
  FirstIn(child);
  child.Send('c');
  EXPECT_GE(child.Receive<emulator::CallCounts>().stream_waits, 1);
}

TEST_P(SharedGpuTest, AnAllocationIsOpenedOnceHoweverOftenItIsShared) {
  ChildProcess child([this](Channel& parent) {
    StartInChild();
    {
      const Tensor a = *ipc::Open(*ipc::Handle::FromBytes(parent.Receive<std::string>()));
      const Tensor b = *ipc::Open(*ipc::Handle::FromBytes(parent.Receive<std::string>()));
      parent.Send(static_cast<char*>(b.raw_data()) - static_cast<char*>(a.raw_data()));
      parent.Send(gpu().counts().ipc_opens);
    }
    Trim();
    parent.Send(gpu().counts().ipc_closes);
  });
  const Tensor t = Counting6();
  child.Send(ipc::Share(t)->ToBytes());
  child.Send(ipc::Share(*t.Select(0, 1))->ToBytes());
  EXPECT_EQ(child.Receive<std::ptrdiff_t>(), 12);
  EXPECT_EQ(child.Receive<int>(), 1);
  EXPECT_EQ(child.Receive<int>(), 1);
}

TEST_P(SharedGpuTest, SharedTwiceAMemoryHasOneNameAndOneHold) {
  const Tensor t = Counting6();
  const ipc::Handle first = *ipc::Share(t);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ipc::Share(t)->memory, first.memory);
  EXPECT_EQ(t.storage()->uses()->events().size(), 1u);
}

TEST_P(SharedGpuTest, TheDriverRefusesAHandleOfTheSameProcess) {
  const Tensor t = Counting6();
  const gpu::RuntimeApi& api = gpu().api();
  void* previous;
  api.push_device(api.self, 0, &previous);
  gpu::IpcHandle handle;
  void* data = nullptr;
  EXPECT_EQ(api.ipc_memory_handle(api.self, t.raw_data(), &handle), 0);
  EXPECT_NE(api.ipc_open(api.self, &handle, &data), 0);
  api.pop_device(api.self, previous);
}

TEST_P(SharedGpuTest, WhatNoOtherProcessCanOpenIsRefusedWithTheRemedy) {
  const Tensor pool = OnDevice(Counting({2, 3}));
  EXPECT_THAT(Text(ipc::Share(pool).status()), HasSubstr("set_allocator"));
  EXPECT_TRUE(ipc::Share(*ipc::CopyToShared(pool)).ok());
  const Tensor host = *Copied(Counting({2, 3}), {.device = pinned()});
  EXPECT_THAT(Text(ipc::Share(host).status()), HasSubstr("ask for a copy"));
  const Tensor copy = *ipc::CopyToShared(host);
  EXPECT_EQ(copy.device(), Device::Cpu());
  EXPECT_EQ(ipc::Empty({2}, kInt32, pinned()).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(SharedGpuTest, WhatBelongsToAnotherProcessIsNotSharedOn) {
  ChildProcess child(Borrower());
  const Tensor t = Counting6();
  OpenIn(child, *ipc::Share(t));
  child.Send('s');
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("pass on the handle"));
}

TEST_P(SharedGpuTest, NothingIsSharedWhileAStreamIsCaptured) {
  const Tensor t = Counting6();
  const Stream stream = MakeStream();
  ASSERT_TRUE(t.storage()->Synchronize().ok());
  gpu().BeginCapture(stream.native(), 0);
  {
    const StreamScope scope(stream);
    EXPECT_THAT(Text(ipc::Share(t).status()), HasSubstr("captured"));
  }
  EXPECT_TRUE(gpu().EndCapture(stream.native(), 0));
  EXPECT_TRUE(ipc::Share(t).ok());
}

TEST_P(SharedGpuTest, WithoutEventsForOthersTheHostWaitsForTheWork) {
  ChildProcess child(Borrower());
  Start({.vendor = GetParam(), .has_ipc_events = false});
  const Tensor t = Counting6();
  gpu().ResetCounts();
  const ipc::Handle handle = *ipc::Share(t);
  EXPECT_GE(gpu().counts().host_waits, 1);
  OpenIn(child, handle);
  EXPECT_EQ(FirstIn(child), 0);
  EXPECT_TRUE(LetGoIn(child));
}

TEST_P(SharedGpuTest, AHandleOfOneKindOfMemoryIsNoneOfAnother) {
  const Tensor t = Counting6();
  ipc::Handle handle = *ipc::Share(t);
  handle.device = Device::Cpu();
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("another kind"));
  handle = *ipc::Share(*ipc::Empty({2}, kInt32));
  handle.device = device();
  EXPECT_FALSE(ipc::Open(handle).ok());
  const Tensor host = *ipc::Empty({2}, kInt32);
  handle = *ipc::Share(host);
  handle.device = device();
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("another kind"));
  for (const char* name : {"", "x", "0123456789abcdef", "0123456789abcdef01234567890"}) {
    handle.memory = name;
    EXPECT_EQ(ipc::Open(handle).status().code(), absl::StatusCode::kFailedPrecondition);
  }
}

// What another process may have written to a slot: the size of the description, the vendor, the
// GPU's address, numbers, and the driver's handles.
TEST_P(SharedGpuTest, WhatASlotSaysOfAnotherVendorOrGpuIsAnError) {
  constexpr size_t kVendorAt = 8, kAddressAt = 24, kHandlesAt = 80;
  constexpr auto kBlocks = ipc::SegmentKind::kDeviceBlocks;
  const Tensor t = Counting6();
  ipc::Handle handle = *ipc::Share(t);
  const ipc::SlotHold original =
      *ipc::SlotHold::Open(*ipc::SlotName::FromBytes(handle.memory), kBlocks);
  const std::shared_ptr<ipc::Segment> segment = *ipc::Segment::Create(1 << 16, kBlocks);
  const ipc::SlotHold forged = *segment->Allocate(original.nbytes());
  handle.memory = forged.name().ToBytes();
  auto* bytes = static_cast<char*>(*forged.Data());
  const auto restore = [&] { std::memcpy(bytes, *original.Data(), original.nbytes()); };
  std::memset(bytes, 'x', forged.nbytes());
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("another version"));
  restore();
  std::memset(bytes + kVendorAt, 'x', forged.nbytes() - kVendorAt);  // no text ends with a null
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("belongs to \"xxxxxxxxxxxxxxxx\""));
  restore();
  bytes[kAddressAt] = '9';
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("does not see"));
  restore();
  std::memset(bytes + kHandlesAt, 0xFF, forged.nbytes() - kHandlesAt);
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("does not open the memory"));
  std::memset(bytes, 0, forged.nbytes());
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("another version"));
  EXPECT_FALSE(forged.HasOtherHolds()) << "opens that failed hold nothing";
}

TEST_P(SharedGpuTest, AForkedChildSharesAndOpensNothing) {
  const Tensor t = Counting6();
  const ipc::Handle handle = *ipc::Share(t);
  ChildProcess child([&](Channel& parent) {
    parent.Send(Text(ipc::Share(t).status()));
    parent.Send(Text(ipc::Open(handle).status()));
  });
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("forked"));
  EXPECT_THAT(child.Receive<std::string>(), HasSubstr("forked"));
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
