// Random copies and fills, planned, run on the host with the device's code, and compared with plain
// loops. Both sides have guard bytes around them that no launch may touch.

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/devices/gpu/kernels/testing/host_run.h"
#include "dovetail/devices/gpu/planning/kernel_table.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "dovetail/devices/gpu/planning/merge.h"
#include "gtest/gtest.h"

namespace dovetail::gpu {
namespace {

using Dims = std::vector<int64_t>;
using Bytes = std::vector<unsigned char>;
using Random = std::mt19937;

void* Same(const void* p) { return const_cast<void*>(p); }

int64_t Count(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// One side of a copy: strides in elements, and memory with guard bytes around the elements.
struct Side {
  static constexpr int64_t kEdge = 64;
  Dims strides;
  int64_t origin = kEdge;  // of element 0
  Bytes bytes;

  // A random order of dimensions, sometimes with gaps and negative steps; steps of 0 if `repeats`.
  Side(const Dims& shape, int64_t item, bool repeats, int64_t misaligned, Random& random)
      : strides(shape.size()) {
    Dims order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    if (random() % 4 != 0) std::shuffle(order.begin(), order.end(), random);
    int64_t step = 1, highest = 0;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (random() % 8 == 0) step += random() % 9;
      strides[*it] = repeats && random() % 8 == 0 ? 0 : random() % 8 == 0 ? -step : step;
      const int64_t reach = (std::max<int64_t>(shape[*it], 1) - 1) * strides[*it] * item;
      if (reach < 0) origin -= reach;
      highest += std::abs(reach);
      step *= std::max<int64_t>(shape[*it], 1);
    }
    origin += misaligned;
    bytes.resize(2 * kEdge + misaligned + highest + item + 16);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  }

  // Aligns element 0 as the case wants it, wherever the vector's memory starts.
  unsigned char* Aligned(Bytes& memory) const {
    const auto start = reinterpret_cast<uintptr_t>(memory.data());
    return memory.data() + (16 - start % 16) % 16;
  }
  TensorView View(Bytes& memory, DType dtype, const Dims& shape) const {
    return {.data = Aligned(memory) + origin,
            .device = Device::Cuda(0),
            .dtype = dtype,
            .shape = shape,
            .strides = strides};
  }
};

// Calls at(offset in elements of each side) for every index of `shape`.
template <typename At>
void ForEachIndex(const Dims& shape, const Dims& a, const Dims& b, At at) {
  const int64_t count = Count(shape);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, x = 0, y = 0;
    for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
      x += rest % shape[d] * a[d];
      y += rest % shape[d] * b[d];
      rest /= shape[d];
    }
    at(x, y);
  }
}

// Runs a copy by kernels and by rectangles, and compares every byte, guard bytes included.
void CheckCopy(const Dims& shape, DType dtype, const Side& dst, const Side& src,
               const LaunchLimits& limits = {}, std::map<std::string, int>* used = nullptr) {
  const int64_t item = dtype.itemsize();
  Bytes expected = dst.bytes, actual = dst.bytes, from = src.bytes;
  unsigned char* to = dst.Aligned(expected) + dst.origin;
  const unsigned char* source = src.Aligned(from) + src.origin;
  std::memcpy(dst.Aligned(expected), dst.bytes.data(), dst.bytes.size() - 16);
  std::memcpy(dst.Aligned(actual), dst.bytes.data(), dst.bytes.size() - 16);
  ForEachIndex(shape, dst.strides, src.strides,
               [&](int64_t d, int64_t s) { std::memcpy(to + d * item, source + s * item, item); });

  MergedCopy merged;
  absl::Status status =
      MergeCopy(dst.View(actual, dtype, shape), src.View(from, dtype, shape), &merged);
  ASSERT_TRUE(status.ok()) << status;
  int launches = 0;
  status = ForEachCopyLaunch(
      merged,
      [&](const CopyLaunch& launch) {
        CopyLaunch copy = launch;
        void* arguments[] = {&copy.arguments};
        if (used != nullptr) ++(*used)[KernelName(launch.kernel)];
        ++launches;
        return RunKernelOnHost(KernelName(launch.kernel), launch.blocks, arguments, Same)
                   ? absl::OkStatus()
                   : absl::InternalError("no such kernel");
      },
      limits);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(launches == 0, Count(shape) == 0);
  ASSERT_EQ(std::memcmp(dst.Aligned(actual), dst.Aligned(expected), dst.bytes.size() - 16), 0);

  // By rectangles.
  std::memcpy(dst.Aligned(actual), dst.bytes.data(), dst.bytes.size() - 16);
  status = ForEachPitchedCopy(merged, [&](const PitchedCopy& p) {
    EXPECT_GE(p.dst_pitch, p.width);
    EXPECT_GE(p.src_pitch, p.width);
    for (int64_t row = 0; row < p.height; ++row) {
      std::memcpy(p.dst + row * p.dst_pitch, p.src + row * p.src_pitch, p.width);
    }
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(std::memcmp(dst.Aligned(actual), dst.Aligned(expected), dst.bytes.size() - 16), 0);
}

constexpr DType kTypes[] = {kUInt8,
                            kFloat16,
                            kFloat32,
                            kFloat64,
                            kComplex128,
                            {TypeKind::kUInt, 8, 3},
                            {TypeKind::kFloat, 32, 3},
                            {TypeKind::kFloat, 64, 4}};

Dims RandomShape(Random& random) {
  Dims shape(random() % 7);
  for (int64_t& size : shape) size = random() % 12 == 0 ? random() % 2 : 1 + random() % 6;
  if (!shape.empty() && random() % 2 == 0) shape[random() % shape.size()] = 1 + random() % 40;
  return shape;
}

TEST(CopyKernels, AnyLayoutOfAnyElementSizeArrivesAndNothingElseIsTouched) {
  Random random(7);
  std::map<std::string, int> used;
  for (int i = 0; i < 2000 && !testing::Test::HasFatalFailure(); ++i) {
    const Dims shape = RandomShape(random);
    const DType dtype = kTypes[random() % std::size(kTypes)];
    // Aligned like the frameworks' memory, to the element's size, to a part of it, or not at all.
    const int64_t misaligned[] = {0, 0, 1, 2, 4, 8};
    const Side dst(shape, dtype.itemsize(), false, misaligned[random() % 6], random);
    const Side src(shape, dtype.itemsize(), true, misaligned[random() % 6], random);
    LaunchLimits limits;
    if (random() % 10 == 0) limits.units = 16 + random() % 200;
    if (random() % 10 == 0) limits.blocks = 1 + random() % 6;
    SCOPED_TRACE(testing::Message() << "case " << i);
    CheckCopy(shape, dtype, dst, src, limits, &used);
  }
  for (const char* name : {"dovetail_copy_1", "dovetail_copy_2", "dovetail_copy_4",
                           "dovetail_copy_8", "dovetail_copy_16"}) {
    EXPECT_GT(used[name], 0) << name;
  }
}

TEST(CopyKernels, ADeviceWithLinearKernelsAloneIsAskedForNoOthers) {
  Random random(9);
  for (int i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
    const Dims shape = i % 2 == 0 ? RandomShape(random) : Dims{33, 65};
    const DType dtype = kTypes[random() % std::size(kTypes)];
    Side dst(shape, dtype.itemsize(), false, 0, random);
    Side src(shape, dtype.itemsize(), true, 0, random);
    MergedCopy merged;
    ASSERT_TRUE(
        MergeCopy(dst.View(dst.bytes, dtype, shape), src.View(src.bytes, dtype, shape), &merged)
            .ok());
    ASSERT_TRUE(ForEachCopyLaunch(merged,
                                  [&](const CopyLaunch& launch) {
                                    const std::string name = KernelName(launch.kernel);
                                    EXPECT_EQ(name.find_first_of("0123456789"), name.rfind('_') + 1)
                                        << name;
                                    EXPECT_EQ(name.rfind('_'), std::string("dovetail_copy").size())
                                        << name;
                                    return absl::OkStatus();
                                  },
                                  {.kernels = KernelSet::kLinear})
                    .ok());
  }
}

TEST(CopyKernels, ADeviceWithDenseTilesIsAskedForNoTileThatIsNotWhole) {
  std::map<std::string, int> used;
  Random random(12);
  for (int i = 0; i < 500; ++i) {
    Dims shape(3, 40);
    for (int64_t& size : shape) size += random() % 100;
    shape.front() = 1 + random() % 3;
    const DType dtype = kTypes[random() % 5];
    Side dst(shape, dtype.itemsize(), false, 0, random);
    Side src(shape, dtype.itemsize(), false, 0, random);
    MergedCopy merged;
    ASSERT_TRUE(
        MergeCopy(dst.View(dst.bytes, dtype, shape), src.View(src.bytes, dtype, shape), &merged)
            .ok());
    const auto check = [&](const CopyLaunch& launch) {
      ++used[KernelName(launch.kernel)];
      const CopyArguments::Tiled& d = launch.arguments.along_dst;
      const CopyArguments::Tiled& s = launch.arguments.along_src;
      if (launch.kernel == KernelId::dovetail_copy_tiled_1) {
        EXPECT_TRUE(d.count >= 128 && s.count >= 64 && d.dst_step == 1 && s.src_step == 1);
      } else if (launch.kernel == KernelId::dovetail_copy_tiled_2) {
        EXPECT_TRUE(d.count >= 64 && s.count >= 64 && d.dst_step == 2 && s.src_step == 2);
      } else if (launch.kernel == KernelId::dovetail_copy_tiled_4) {
        EXPECT_TRUE(d.count >= 64 && s.count >= 64 && d.dst_step == 4 && s.src_step == 4);
      }
      return absl::OkStatus();
    };
    ASSERT_TRUE(ForEachCopyLaunch(merged, check, {.kernels = KernelSet::kDenseTiles}).ok());
  }
  for (const auto& [name, times] : used) {
    EXPECT_EQ(name.find("tiled_8"), name.npos);
    EXPECT_EQ(name.find("tiled_16"), name.npos);
    EXPECT_EQ(name.find("shifted"), name.npos);
  }
  EXPECT_EQ(used.size(), 13u);  // five of linear.h, five of gather.h, three of tile.h
}

// Transposed dimensions with sizes close to a tile's.
TEST(CopyKernels, TurnedDimensionsGoThroughTilesOfEveryKind) {
  Random random(8);
  std::map<std::string, int> used;
  const int64_t sizes[] = {8, 9, 31, 32, 33, 63, 64, 65, 100, 128, 129, 132, 260};
  for (int i = 0; i < 150 && !testing::Test::HasFatalFailure(); ++i) {
    const DType dtype = kTypes[random() % 5];
    Dims shape = {sizes[random() % std::size(sizes)], sizes[random() % std::size(sizes)]};
    const int batch = random() % 3;
    for (int k = 0; k < batch; ++k) shape.insert(shape.begin() + k, 1 + random() % 3);
    Side dst(shape, dtype.itemsize(), false, 0, random);
    Side src(shape, dtype.itemsize(), false, random() % 4 == 0 ? 1 : 0, random);
    // Both sides are dense; src has the last two dimensions swapped.
    int64_t step = 1;
    for (size_t d = shape.size(); d-- > 0; step *= shape[d]) dst.strides[d] = src.strides[d] = step;
    std::swap(src.strides[shape.size() - 2], src.strides[shape.size() - 1]);
    src.strides[shape.size() - 2] = 1;
    src.strides[shape.size() - 1] = shape[shape.size() - 2];
    dst.origin = src.origin = Side::kEdge;
    if (random() % 4 == 0) src.origin += dtype.itemsize();
    const int64_t gap = 1 + random() % 5 / 4;  // sometimes every other element of the source
    for (int64_t& stride : src.strides) stride *= gap;
    dst.bytes.resize(Count(shape) * dtype.itemsize() + 3 * Side::kEdge);
    src.bytes.resize(gap * Count(shape) * dtype.itemsize() + 3 * Side::kEdge);
    for (unsigned char& byte : src.bytes) byte = static_cast<unsigned char>(random());
    SCOPED_TRACE(testing::Message() << "case " << i);
    CheckCopy(shape, dtype, dst, src, {}, &used);
  }
  for (const std::string name : kKernelNames) {
    if (name.rfind("dovetail_copy_tiled", 0) != 0 && name.find("shifted") == name.npos) continue;
    EXPECT_GT(used[name], 0) << name;
  }
}

// Pixels of a few channels, both ways, alone and in batches with gaps between the images.
TEST(CopyKernels, ChannelsAreGatheredInWordsOfEveryKind) {
  Random random(11);
  std::map<std::string, int> used;
  for (int i = 0; i < 300 && !testing::Test::HasFatalFailure(); ++i) {
    const DType dtype = kTypes[random() % 3];
    const int64_t images = 1 + random() % 3, channels = 2 + random() % 4;
    const int64_t pixels = random() % 2 == 0 ? 16 * (1 + random() % 40) : 1 + random() % 700;
    const int64_t image = channels * pixels + (random() % 4 == 0 ? 4 : 0);
    const bool interleaves = random() % 2 == 0;
    const Dims shape =
        interleaves ? Dims{images, pixels, channels} : Dims{images, channels, pixels};
    Side dst(shape, dtype.itemsize(), false, 0, random);
    Side src(shape, dtype.itemsize(), false, 0, random);
    dst.strides = interleaves ? Dims{image, channels, 1} : Dims{image, pixels, 1};
    src.strides = interleaves ? Dims{image, 1, pixels} : Dims{image, 1, channels};
    dst.origin = src.origin = Side::kEdge;
    dst.bytes.resize(images * image * dtype.itemsize() + 3 * Side::kEdge);
    src.bytes.resize(images * image * dtype.itemsize() + 3 * Side::kEdge);
    for (unsigned char& byte : src.bytes) byte = static_cast<unsigned char>(random());
    SCOPED_TRACE(testing::Message() << "case " << i);
    LaunchLimits limits;
    if (random() % 10 == 0) limits.units = 500;
    if (random() % 10 == 0) limits.blocks = 1 + random() % 6;
    CheckCopy(shape, dtype, dst, src, limits, &used);
  }
  for (const std::string name : kKernelNames) {
    if (name.find("gathered") == name.npos) continue;
    EXPECT_GT(used[name], 0) << name;
  }
}

TEST(CopyKernels, AsManyDimensionsAsThereCanBe) {
  // Twenty dimensions of size 2, reversed: none can be merged.
  const Dims shape(20, 2);
  Random random(9);
  Side dst({Count(shape)}, 1, false, 0, random), src({Count(shape)}, 1, false, 0, random);
  dst.origin = src.origin = Side::kEdge;
  dst.strides.resize(20);
  src.strides.resize(20);
  for (int i = 0; i < 20; ++i) {
    dst.strides[i] = int64_t{1} << (19 - i);
    src.strides[i] = int64_t{1} << i;
  }
  dst.bytes.resize(Count(shape) + 3 * Side::kEdge);
  src.bytes.resize(Count(shape) + 3 * Side::kEdge);
  CheckCopy(shape, kUInt8, dst, src);
}

TEST(FillKernels, AnyLayoutOfAnyElementSizeIsFilledAndNothingElseIsTouched) {
  Random random(10);
  std::set<std::string> used;
  for (int i = 0; i < 1500; ++i) {
    const Dims shape = RandomShape(random);
    const DType dtype = kTypes[random() % 5];
    const int64_t item = dtype.itemsize();
    const Side dst(shape, item, false, random() % 3 == 0 ? random() % 16 : 0, random);
    Bytes expected = dst.bytes, actual = dst.bytes;
    std::memcpy(dst.Aligned(expected), dst.bytes.data(), dst.bytes.size() - 16);
    std::memcpy(dst.Aligned(actual), dst.bytes.data(), dst.bytes.size() - 16);
    unsigned char element[16];
    for (unsigned char& byte : element) byte = static_cast<unsigned char>(random());
    ForEachIndex(shape, dst.strides, dst.strides, [&](int64_t d, int64_t) {
      std::memcpy(dst.Aligned(expected) + dst.origin + d * item, element, item);
    });
    MergedCopy merged;
    absl::Status status = MergeFill(dst.View(actual, dtype, shape), &merged);
    ASSERT_TRUE(status.ok()) << status;
    status = ForEachFillLaunch(
        merged, element, item,
        [&](const FillLaunch& launch) {
          FillLaunch copy = launch;
          void* arguments[] = {&copy.arguments};
          used.insert(KernelName(launch.kernel));
          EXPECT_TRUE(RunKernelOnHost(KernelName(launch.kernel), launch.blocks, arguments, Same));
          return absl::OkStatus();
        },
        random() % 10 == 0 ? 16 + random() % 200 : kMaxLaunchUnits);
    ASSERT_TRUE(status.ok()) << status;
    ASSERT_EQ(std::memcmp(dst.Aligned(actual), dst.Aligned(expected), dst.bytes.size() - 16), 0)
        << "case " << i;
  }
  EXPECT_EQ(used.size(), 5u);
}

}  // namespace
}  // namespace dovetail::gpu
