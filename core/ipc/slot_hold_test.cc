// Who holds a slot, and what its holders learn of each other.

#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/testing/child_process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

constexpr SegmentKind kBlocks = SegmentKind::kDeviceBlocks;

// Holds the slots that the parent names until it is told to drop them.
void HoldWhenTold(Channel& parent) {
  while (true) {
    absl::StatusOr<SlotHold> hold =
        SlotHold::Open(parent.Receive<SlotName>(), SegmentKind::kDeviceBlocks);
    parent.Send(hold.ok());
    parent.Receive<char>();
    hold = SlotHold();
    parent.Send(true);
  }
}

TEST(SlotHoldTest, WhoHasItLearnsOfOtherProcessesThatHoldIt) {
  ChildProcess child(&HoldWhenTold);
  const SlotHold slot = *TryMake(8, kBlocks);
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
  child.Send(slot.name());
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/false));
  EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/true));
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());  // dropped
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
}

TEST(SlotHoldTest, NobodyOpensWhatWasRenewedAndWhoHasItKeepsIt) {
  ChildProcess child(&HoldWhenTold), second(&HoldWhenTold);
  SlotHold slot = *TryMake(8, kBlocks);
  const SlotName old = slot.name();
  child.Send(old);
  EXPECT_TRUE(child.Receive<bool>());
  slot.Renew();
  second.Send(old);
  EXPECT_FALSE(second.Receive<bool>());
  EXPECT_EQ(TryOpen(old, kBlocks).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/true)) << "the first child still has it";
  child.Send('x');
  EXPECT_TRUE(child.Receive<bool>());
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/false));
  second.Send('x');
  EXPECT_TRUE(second.Receive<bool>());
  second.Send(slot.name());
  EXPECT_TRUE(second.Receive<bool>()) << "its new name";
}

TEST(SlotHoldTest, AProcessThatWasKilledHoldsNothing) {
  const SlotHold slot = *TryMake(8, kBlocks);
  {
    ChildProcess child(&HoldWhenTold);
    child.Send(slot.name());
    EXPECT_TRUE(child.Receive<bool>());
    EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/true));
  }
  EXPECT_TRUE(slot.IsHeldByOthers(/*thorough=*/false)) << "nobody has looked yet";
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
  UnlinkLeftBehind();
}

TEST(SlotHoldTest, EachHoldOfThisProcessIsCounted) {
  SlotHold slot = *TryMake(8, kBlocks);
  const SlotName name = slot.name();
  SlotHold second = *SlotHold::Open(name, kBlocks), third = *SlotHold::Open(name, kBlocks);
  EXPECT_TRUE(slot.HasOtherHolds());
  second = SlotHold();
  EXPECT_TRUE(slot.HasOtherHolds());
  third = std::move(second);
  EXPECT_FALSE(slot.HasOtherHolds());
  third = std::move(slot);
  EXPECT_FALSE(slot);
  EXPECT_TRUE(TryOpen(name, kBlocks).ok());
  third = SlotHold();
  EXPECT_FALSE(TryOpen(name, kBlocks).ok());
}

// There is a limited number of participants; the numbers of ended processes are reused.
TEST(SlotHoldTest, ManyProcessesHoldItOneAfterAnother) {
  const SlotHold slot = *TryMake(8, kBlocks);
  for (int i = 0; i < kMostParticipants + 10; ++i) {
    ChildProcess child(&HoldWhenTold);
    child.Send(slot.name());
    ASSERT_TRUE(child.Receive<bool>()) << i;
  }
  EXPECT_FALSE(slot.IsHeldByOthers(/*thorough=*/true));
  UnlinkLeftBehind();
}

// Tensors say how much memory they have, and it must stay theirs.
TEST(SlotHoldTest, ASlotHasAsManyBytesAsWereAskedForBeforeAndAfterItsRestIsCutOff) {
  const std::shared_ptr<Segment> segment = *Segment::Create(9 * kGranuleBytes);
  {
    const SlotHold all = *segment->Allocate(9 * kGranuleBytes);
  }
  const SlotHold slot = *segment->Allocate(8 * kGranuleBytes);
  EXPECT_EQ(SlotHold::Open(slot.name())->nbytes(), 8 * kGranuleBytes);
  const SlotHold rest = *segment->Allocate(kGranuleBytes);
  EXPECT_EQ(slot.nbytes(), 8 * kGranuleBytes);
  EXPECT_EQ(BytesOf(rest) - BytesOf(slot), ptrdiff_t{8 * kGranuleBytes});
}

TEST(SlotHoldTest, AWriteBeyondTheLimitOfFileSizesFailsAndRaisesNoSignal) {
  const SlotHold slot = *TryMake();
  ChildProcess child([&](Channel& parent) {
    const struct rlimit small = {4096, 4096};
    setrlimit(RLIMIT_FSIZE, &small);
    parent.Send(slot.Write("a"));
  });
  EXPECT_FALSE(child.Receive<bool>());
  EXPECT_EQ(child.Join(), 0);
  EXPECT_TRUE(slot.Write("a"));
}

TEST(SlotHoldTest, WhatIsKeptIsHeldUntilItIsTaken) {
  SlotHold slot = *TryMake();
  const SlotName name = slot.name();
  char* const data = BytesOf(slot);
  SlotHold::Keep(std::move(slot));
  EXPECT_FALSE(slot);
  ASSERT_TRUE(TryOpen(name).ok());
  SlotHold::Keep(*SlotHold::Open(name));
  EXPECT_TRUE(SlotHold::TakeKept(data + 5));
  ASSERT_TRUE(TryOpen(name).ok()) << "kept twice, and taken once";
  {
    const SlotHold last = SlotHold::TakeKept(data);
    EXPECT_FALSE(last.HasOtherHolds());
    EXPECT_EQ(last.segment().use_count(), 1);
  }
  EXPECT_FALSE(TryOpen(name).ok());
  EXPECT_FALSE(SlotHold::TakeKept(data));
}

TEST(SlotHoldTest, CompanionsStayAsLongAsTheSlot) {
  const std::shared_ptr<Segment> segment = *Segment::Create(20 * kGranuleBytes);
  SlotHold slot = *segment->Allocate(1);
  SlotHold first = *segment->Allocate(1), second = *segment->Allocate(1);
  const SlotName of_first = first.name(), of_second = second.name();
  slot.KeepCompanion("a", std::move(first));
  slot.KeepCompanion("a", std::move(second));  // there is one already
  EXPECT_FALSE(TryOpen(of_second).ok());
  EXPECT_EQ(slot.FindCompanion("a")->slot, of_first.slot);
  EXPECT_FALSE(slot.FindCompanion("b"));
  EXPECT_FALSE(SlotHold::Open(of_first)->FindCompanion("a"));
  {
    const SlotHold again = *SlotHold::Open(slot.name());
    slot = SlotHold();
    EXPECT_TRUE(TryOpen(of_first).ok());
  }
  EXPECT_FALSE(TryOpen(of_first).ok());
  EXPECT_EQ(segment.use_count(), 1);
  EXPECT_EQ(segment->Stats()->used_slots, 0u);
}

TEST(SlotHoldTest, AReadOnlyNameGivesASecondMappingThatCantBeWritten) {
  const SlotHold slot = *TryMake();
  SlotName name = slot.name();
  name.read_only = true;
  const SlotHold there = *SlotHold::Open(name);
  EXPECT_TRUE(there.is_read_only());
  EXPECT_TRUE(there.name().read_only);
  EXPECT_NE(BytesOf(there), BytesOf(slot));
  BytesOf(slot)[3] = 9;
  EXPECT_EQ(BytesOf(there)[3], 9);
  EXPECT_TRUE(SlotHold::FindAt(BytesOf(there)).is_read_only());
  EXPECT_FALSE(SlotHold::FindAt(BytesOf(slot)).is_read_only());
  // read() writes without a signal.
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  ASSERT_EQ(write(pipes[1], "xy", 2), 2);
  EXPECT_EQ(read(pipes[0], BytesOf(there), 1), -1);
  EXPECT_EQ(read(pipes[0], BytesOf(slot), 1), 1);
  close(pipes[0]), close(pipes[1]);
}

TEST(SlotHoldTest, HoldersAreNamedWithWhatTheyHold) {
  ChildProcess child([](Channel& parent) {
    const SlotHold slot = *SlotHold::Open(parent.Receive<SlotName>());
    const SlotHold own = *slot.segment()->Allocate(3 * kGranuleBytes);
    parent.Send(true);
    pause();
  });
  const std::shared_ptr<Segment> segment = *Segment::Create(20 * kGranuleBytes);
  const SlotHold slot = *segment->Allocate(2 * kGranuleBytes);
  child.Send(slot.name());
  child.Receive<bool>();
  const PoolStats stats = *segment->Stats();
  EXPECT_EQ(stats.capacity, 20 * kGranuleBytes);
  EXPECT_EQ(stats.reserved, 5 * kGranuleBytes);
  EXPECT_EQ(stats.used, 5 * kGranuleBytes);
  EXPECT_EQ(stats.used_slots, 2u);
  ASSERT_EQ(stats.holders.size(), 2u);
  for (const Holder& holder : stats.holders) {
    const bool is_mine = holder.is_this_process;
    EXPECT_EQ(holder.process_id, static_cast<uint32_t>(is_mine ? getpid() : child.pid()));
    EXPECT_EQ(holder.slots, is_mine ? 1u : 2u);
    EXPECT_EQ(holder.nbytes, (is_mine ? 2 : 5) * kGranuleBytes);
  }
  EXPECT_EQ(*segment->Reclaim(), 0u);
  child.Kill();
  EXPECT_EQ(*segment->Reclaim(), 3 * kGranuleBytes);
  EXPECT_EQ(segment->Stats()->used, 2 * kGranuleBytes);
}

TEST(SlotNameTest, WhatIsWrittenIsReadAndNothingElse) {
  const SlotName name = {{ProcessToken{7}, 9}, 0x1234'5678, 0xfe'dcba'9876, true, true, 0xab};
  const std::string bytes = name.ToBytes();
  const SlotName again = *SlotName::FromBytes(bytes);
  EXPECT_EQ(again.segment, name.segment);
  EXPECT_EQ(again.slot, name.slot);
  EXPECT_EQ(again.generation, name.generation);
  EXPECT_TRUE(again.read_only);
  EXPECT_TRUE(again.is_message);
  EXPECT_EQ(again.sender, 0xab);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(SlotName::FromBytes(bytes.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(SlotName::FromBytes(bytes + "x").ok());
  for (const char flag : {'\4', '\x80', '\xff'}) {
    EXPECT_THAT(
        std::string(
            SlotName::FromBytes(bytes.substr(0, bytes.size() - 1) + flag).status().message()),
        HasSubstr("another version"));
  }
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
