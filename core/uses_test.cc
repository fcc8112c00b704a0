#include "dovetail/core/uses.h"

#include <memory>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

const Stream kA = Stream::Default(Device::Cuda(0));
const Stream kB = Stream::Own(Device::Cuda(0), NativeStream{7}, std::make_shared<int>());

TEST(Uses, EmptyUsesHaveNoWork) {
  Uses uses;
  EXPECT_TRUE(uses.streams().empty());
  EXPECT_TRUE(uses.events().empty());
  EXPECT_FALSE(uses.has_unknown());
  EXPECT_FALSE(uses.has_work());
}

TEST(Uses, AStreamIsRecordedOnceAndWorkOutranksOrder) {
  Uses uses;
  uses.AddStream(kA, UseKind::kOrder);
  EXPECT_FALSE(uses.has_work());
  uses.AddStream(kB, UseKind::kOrder);
  uses.AddStream(kA, UseKind::kWork);
  uses.AddStream(kA, UseKind::kOrder);
  ASSERT_EQ(uses.streams().size(), 2u);
  EXPECT_EQ(uses.streams()[0].kind, UseKind::kWork);
  EXPECT_EQ(uses.streams()[1].kind, UseKind::kOrder);
  EXPECT_TRUE(uses.has_work());
}

TEST(Uses, EventsAndUnknownUsesAreWork) {
  Uses events, unknown;
  events.AddEvent(Event(Device::Cuda(0), nullptr));
  EXPECT_TRUE(events.has_work());
  events.DropEvents([](const Event&) { return false; });
  EXPECT_TRUE(events.has_work());
  events.DropEvents([](const Event&) { return true; });
  EXPECT_FALSE(events.has_work());
  unknown.AddUnknown();
  EXPECT_TRUE(unknown.has_unknown());
  EXPECT_TRUE(unknown.has_work());
}

TEST(Uses, AnOwnedStreamLivesAsLongAsItIsRecorded) {
  auto owner = std::make_shared<int>();
  std::weak_ptr<int> alive = owner;
  {
    Uses uses;
    uses.AddStream(Stream::Own(Device::Cuda(0), NativeStream{9}, std::move(owner)), UseKind::kWork);
    EXPECT_FALSE(alive.expired());
  }
  EXPECT_TRUE(alive.expired());
}

}  // namespace
}  // namespace dovetail
