#include "dovetail/devices/gpu/planning/merge.h"

#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/core/testing/strided_pair.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Dims = std::vector<int64_t>;

// Addresses that nothing touches.
unsigned char* const kDst = reinterpret_cast<unsigned char*>(0x100000);
unsigned char* const kSrc = reinterpret_cast<unsigned char*>(0x900000);

struct Pair {
  Dims shape, dst_strides, src_strides;
  DType dtype = kFloat32;
  Packing dst_packing = Packing::kPacked, src_packing = Packing::kPacked;

  absl::StatusOr<MergedCopy> Merge() const {
    MergedCopy merged;
    absl::Status s = MergeCopy({.data = kDst,
                                .dtype = dtype,
                                .packing = dst_packing,
                                .shape = shape,
                                .strides = dst_strides},
                               {.data = kSrc,
                                .dtype = dtype,
                                .packing = src_packing,
                                .shape = shape,
                                .strides = src_strides},
                               &merged);
    if (!s.ok()) return s;
    return absl::StatusOr<MergedCopy>(merged);
  }
  std::vector<CopyLaunch> Launches(const LaunchLimits& limits = {}) const {
    std::vector<CopyLaunch> launches;
    auto merged = Merge();
    if (!merged.ok()) return launches;
    EXPECT_TRUE(ForEachCopyLaunch(
                    *merged,
                    [&](const CopyLaunch& launch) {
                      launches.push_back(launch);
                      return absl::OkStatus();
                    },
                    limits)
                    .ok());
    return launches;
  }
};

TEST(MergeCopy, DenseTensorsAreOneRun) {
  const MergedCopy copy = *Pair{{2, 3, 4}, {12, 4, 1}, {12, 4, 1}}.Merge();
  EXPECT_EQ(copy.run_bytes, 96);
  EXPECT_THAT(copy.loops, IsEmpty());
}

TEST(MergeCopy, DimensionsInAnotherOrderOnBothSidesAreOneRunAsWell) {
  const MergedCopy copy = *Pair{{4, 3, 2}, {1, 4, 12}, {1, 4, 12}}.Merge();
  EXPECT_EQ(copy.run_bytes, 96);
  EXPECT_THAT(copy.loops, IsEmpty());
}

TEST(MergeCopy, DimensionsOfOneTurnVanishWhateverTheirStrides) {
  const MergedCopy copy = *Pair{{1, 6, 1}, {INT64_MAX, 1, INT64_MIN}, {7, 1, -1}}.Merge();
  EXPECT_EQ(copy.run_bytes, 24);
  EXPECT_THAT(copy.loops, IsEmpty());
}

TEST(MergeCopy, ReversalOnBothSidesIsNone) {
  const MergedCopy copy = *Pair{{6}, {-1}, {-1}}.Merge();
  EXPECT_EQ(copy.run_bytes, 24);
  EXPECT_EQ(copy.dst, kDst - 20);
  EXPECT_EQ(copy.src, kSrc - 20);
}

TEST(MergeCopy, ATransposeKeepsTwoLoopsInTheOrderOfTheDestination) {
  const MergedCopy copy = *Pair{{5, 7}, {7, 1}, {1, 5}}.Merge();
  EXPECT_EQ(copy.run_bytes, 4);
  EXPECT_THAT(copy.loops, ElementsAre(Loop{5, 28, 4}, Loop{7, 4, 20}));
}

TEST(MergeCopy, ABroadcastSourceStepsByNothing) {
  const MergedCopy copy = *Pair{{3, 4}, {4, 1}, {0, 1}}.Merge();
  EXPECT_EQ(copy.run_bytes, 16);
  EXPECT_THAT(copy.loops, ElementsAre(Loop{3, 16, 0}));
}

TEST(MergeCopy, NoElementsAreNoBytesAndNoLaunch) {
  const Pair pair{{3, 0}, {0, 1}, {0, 1}};
  EXPECT_EQ(pair.Merge()->run_bytes, 0);
  EXPECT_THAT(pair.Launches(), IsEmpty());
}

TEST(MergeCopy, AScalarIsItsBytes) {
  EXPECT_EQ((Pair{{}, {}, {}, kComplex128}.Merge()->run_bytes), 16);
}

TEST(MergeCopy, SubByteElementsMoveAsTheBytesThatTheyFill) {
  // Rows of 6 elements of 4 bits: 3 bytes.
  const MergedCopy copy = *Pair{{5, 6}, {6, 1}, {8, 1}, kFloat4E2M1Fn}.Merge();
  EXPECT_EQ(copy.run_bytes, 3);
  EXPECT_THAT(copy.loops, ElementsAre(Loop{5, 3, 4}));
}

TEST(MergeCopy, SubByteElementsThatShareBytesWithOthersAreRefusedWithARemedy) {
  for (const Pair& pair :
       {Pair{{5, 3}, {3, 1}, {4, 1}, kFloat4E2M1Fn}, Pair{{4, 4}, {4, 1}, {1, 4}, kFloat4E2M1Fn},
        Pair{{4}, {1}, {1}, kFloat4E2M1Fn, Packing::kPacked, Packing::kPadded}}) {
    const absl::Status status = pair.Merge().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()), HasSubstr("whole bytes"));
  }
}

TEST(PitchedCopies, CoverAllElementsOfAnyLayout) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    const StridedPair layouts = RandomStridedPair(&random);
    const Pair pair{layouts.shape, layouts.dst_strides, layouts.src_strides, kInt16};
    OffsetPairs offsets;
    const auto take = [&offsets](const PitchedCopy& rectangle) {
      for (int64_t row = 0; row < rectangle.height; ++row) {
        for (int64_t byte = 0; byte < rectangle.width; byte += 2) {
          offsets.emplace_back((rectangle.dst + row * rectangle.dst_pitch + byte - kDst) / 2,
                               (rectangle.src + row * rectangle.src_pitch + byte - kSrc) / 2);
        }
      }
      return absl::OkStatus();
    };
    ASSERT_TRUE(ForEachPitchedCopy(*pair.Merge(), take).ok());
    ASSERT_EQ(Sorted(offsets), Sorted(OffsetsOf(layouts)));
  }
}

TEST(Launches, RunsMoveInTheWidestUnitThatTheAddressesAllow) {
  // bhsd to bshd of float16: runs of 64 elements.
  const Pair pair{{4, 32, 100, 64}, {204800, 64, 2048, 1}, {204800, 6400, 64, 1}, kFloat16};
  const auto launches = pair.Launches();
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_STREQ(KernelName(launches[0].kernel), "dovetail_copy_16");
  EXPECT_EQ(launches[0].arguments.units, 4u * 32 * 100 * 8);
}

TEST(Launches, ATransposeTakesTilesInWordsWhereItCan) {
  const auto name = [](const Pair& pair) {
    return std::string(KernelName(pair.Launches().at(0).kernel));
  };
  EXPECT_EQ(name({{100, 200}, {200, 1}, {1, 100}, kUInt8}), "dovetail_copy_tiled_1x4");
  EXPECT_EQ(name({{101, 200}, {200, 1}, {1, 101}, kUInt8}), "dovetail_copy_shifted_1");
  EXPECT_EQ(name({{101, 200}, {200, 1}, {2, 202}, kUInt8}), "dovetail_copy_tiled_1");
  EXPECT_EQ(name({{100, 200}, {200, 1}, {1, 100}, kFloat16}), "dovetail_copy_tiled_2x2");
  EXPECT_EQ(name({{101, 200}, {200, 1}, {1, 101}, kFloat16}), "dovetail_copy_shifted_2");
  EXPECT_EQ(name({{101, 200}, {400, 2}, {1, 101}, kFloat16}), "dovetail_copy_tiled_2");
  EXPECT_EQ(name({{101, 200}, {200, 1}, {1, 101}, kFloat32}), "dovetail_copy_tiled_4");
  EXPECT_EQ(name({{101, 200}, {200, 1}, {1, 101}, kComplex128}), "dovetail_copy_tiled_16");
}

// Tiles would be empty but for three columns.
TEST(Launches, ThreeChannelsAreGatheredInTheWidestWordsThatFit) {
  const auto name = [](const Pair& pair) {
    return std::string(KernelName(pair.Launches().at(0).kernel));
  };
  EXPECT_EQ(name({{1000, 3}, {3, 1}, {1, 1000}, kFloat32}), "dovetail_copy_gathered_4x4");
  EXPECT_EQ(name({{1001, 3}, {3, 1}, {1, 1001}, kFloat32}), "dovetail_copy_4");
  EXPECT_EQ(name({{3, 1600}, {1600, 1}, {1, 3}, kUInt8}), "dovetail_copy_gathered_1x16");
  EXPECT_EQ(name({{3, 500}, {500, 1}, {1, 3}, kUInt8}), "dovetail_copy_gathered_1x4");
  EXPECT_EQ(name({{3, 501}, {501, 1}, {1, 3}, kUInt8}), "dovetail_copy_1");
  EXPECT_EQ(name({{2, 3, 16}, {52, 16, 1}, {48, 1, 3}, kUInt8}), "dovetail_copy_gathered_1x4");
  EXPECT_EQ(name({{3, 1000}, {1000, 1}, {1, 3}, kFloat16}), "dovetail_copy_gathered_2x8");
  EXPECT_EQ(name({{3, 998}, {998, 1}, {1, 3}, kFloat16}), "dovetail_copy_gathered_2x2");
  EXPECT_EQ(name({{4000}, {1}, {2}, kFloat16}), "dovetail_copy_gathered_2x8");
  EXPECT_EQ(name({{4000}, {2}, {1}, kFloat16}), "dovetail_copy_2");
}

TEST(Launches, ACopyOfMoreThanALaunchHoldsIsCutIntoSome) {
  // 2^32 bytes, every other one: too many units for one launch, none of them touched here.
  const Pair pair{{int64_t{1} << 32}, {1}, {2}, kUInt8};
  const auto launches = pair.Launches();
  ASSERT_EQ(launches.size(), 3u);
  int64_t units = 0;
  for (const CopyLaunch& launch : launches) {
    EXPECT_EQ(launch.arguments.dst, kDst + units);
    EXPECT_EQ(launch.arguments.src, kSrc + 2 * units);
    units += launch.arguments.units;
  }
  EXPECT_EQ(units, int64_t{1} << 32);
}

// HIP allows fewer than 2^32 threads. No tile is shared by two matrices.
TEST(Launches, ABatchOfManySmallMatricesIsCutWhereALaunchWouldHaveTooManyBlocks) {
  constexpr int64_t kMatrices = int64_t{1} << 24;
  const Pair pair{{kMatrices, 8, 8}, {64, 8, 1}, {64, 1, 8}, kUInt8};
  EXPECT_EQ(pair.Launches().size(), 1u);
  int64_t blocks = 0;
  for (const CopyLaunch& launch : pair.Launches({.blocks = UINT32_MAX / kBlockThreads})) {
    EXPECT_LE(uint64_t{launch.blocks} * kBlockThreads, UINT32_MAX);
    EXPECT_EQ(launch.arguments.dst, kDst + 64 * blocks);
    EXPECT_EQ(launch.arguments.src, kSrc + 64 * blocks);
    blocks += launch.blocks;
  }
  EXPECT_EQ(blocks, kMatrices);
}

TEST(Launches, AFillOfAnOddSizeIsRefusedWithARemedy) {
  const absl::Status status = ForEachFillLaunch(MergedCopy{kDst, kDst, 12, {}}, "abcdefghijkl", 12,
                                                [](const FillLaunch&) { return absl::OkStatus(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("12 bytes"));
}

TEST(Launches, TheFirstFailureEndsThem) {
  int calls = 0;
  const Pair pair{{1000}, {1}, {2}, kUInt8};
  const absl::Status status = ForEachCopyLaunch(*pair.Merge(),
                                                [&](const CopyLaunch&) {
                                                  ++calls;
                                                  return absl::InternalError("no");
                                                },
                                                {.units = 100});
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace dovetail::gpu
