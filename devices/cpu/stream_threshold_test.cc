#include "dovetail/devices/cpu/stream_threshold.h"

#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(StreamThresholds, WhatNeedsMoreOfTheCacheLeavesItSooner) {
  const StreamThresholds& from = StreamFrom();
  EXPECT_GE(from.near, 2 << 20);  // small copies stay in the cache
  EXPECT_LE(from.near, from.gathered);
  EXPECT_LE(from.gathered, from.rows);
  EXPECT_LE(from.rows, from.fills);
  EXPECT_LE(from.fills, 64 << 20);  // a larger cache is shared with other programs
}

TEST(StreamThresholds, TheyAreLookedUpOnce) { EXPECT_EQ(&StreamFrom(), &StreamFrom()); }

}  // namespace
}  // namespace dovetail
