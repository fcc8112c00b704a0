#include "dovetail/devices/cpu/stream_threshold.h"

#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(StreamThresholds, WhatNeedsMoreOfTheCacheLeavesItSooner) {
  const StreamThresholds& from = StreamFrom();
  EXPECT_GE(from.lines, 2 << 20);  // what is small stays
  EXPECT_LE(from.lines, from.buffered);
  EXPECT_LE(from.buffered, from.rows);
  EXPECT_LE(from.rows, from.fills);
  EXPECT_LE(from.fills, 64 << 20);  // of a larger cache a program has a part alone
  EXPECT_GE(from.memory, from.lines);
}

TEST(StreamThresholds, TheyAreLookedUpOnce) { EXPECT_EQ(&StreamFrom(), &StreamFrom()); }

}  // namespace
}  // namespace dovetail
