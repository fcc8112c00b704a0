#include "dovetail/devices/cpu/stream_threshold.h"

#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(StreamThresholds, WhatNeedsMoreOfTheCacheLeavesItSooner) {
  const StreamThresholds& from = StreamFrom();
  EXPECT_GE(from.lines, 2 << 20);  // small copies stay in the cache
  EXPECT_LE(from.lines, from.buffered);
  EXPECT_LE(from.buffered, from.rows);
  EXPECT_LE(from.rows, from.fills);
  EXPECT_LE(from.fills, 64 << 20);  // a larger cache is shared with other programs
  EXPECT_GE(from.memory, from.lines);
}

TEST(StreamThresholds, TheyAreLookedUpOnce) { EXPECT_EQ(&StreamFrom(), &StreamFrom()); }

}  // namespace
}  // namespace dovetail
