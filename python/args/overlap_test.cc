#include "dovetail/python/args/overlap.h"

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

// A tensor of `bytes` bytes an element at an address.
struct Tensor {
  DLTensor Get() {
    DLTensor tensor{};
    tensor.data = reinterpret_cast<void*>(address);
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = {kDLUInt, static_cast<uint8_t>(8 * bytes), 1};
    tensor.shape = shape.data();
    tensor.strides = strides.data();
    return tensor;
  }

  uintptr_t address;
  uint8_t bytes;
  std::vector<int64_t> shape, strides;
};

void AddBytes(const Tensor& x, size_t dimension, int64_t offset, std::set<uintptr_t>* all) {
  if (dimension == x.shape.size()) {
    for (int64_t i = 0; i < x.bytes; ++i) {
      all->insert(x.address + static_cast<uintptr_t>(offset * x.bytes + i));
    }
    return;
  }
  for (int64_t i = 0; i < x.shape[dimension]; ++i) {
    AddBytes(x, dimension + 1, offset + i * x.strides[dimension], all);
  }
}

bool HaveCommonByte(const Tensor& x, const Tensor& y) {
  std::set<uintptr_t> of_x, of_y;
  AddBytes(x, 0, 0, &of_x);
  AddBytes(y, 0, 0, &of_y);
  for (uintptr_t address : of_x) {
    if (of_y.count(address) != 0) return true;
  }
  return false;
}

TEST(MayOverlap, AgreesWithTheBytesOfSmallTensors) {
  std::mt19937 random(7);
  const auto number = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const auto make = [&] {
    Tensor x{static_cast<uintptr_t>(1000 + number(0, 60)),
             static_cast<uint8_t>(1 << number(0, 2)),
             {},
             {}};
    for (int i = number(0, 3); i > 0; --i) {
      x.shape.push_back(number(0, 4));
      x.strides.push_back(number(-6, 12));
    }
    return x;
  };
  int common = 0, apart = 0;
  for (int i = 0; i < 20000; ++i) {
    Tensor x = make(), y = make();
    const bool expected = HaveCommonByte(x, y);
    ++(expected ? common : apart);
    ASSERT_EQ(MayOverlap(x.Get(), y.Get()), expected) << i;
  }
  EXPECT_GT(common, 2000);
  EXPECT_GT(apart, 2000);
}

TEST(MayOverlap, TheHalvesOfEachRowAreApart) {
  Tensor left{4096, 4, {1000, 50}, {100, 1}}, right{4096 + 200, 4, {1000, 50}, {100, 1}};
  EXPECT_FALSE(MayOverlap(left.Get(), right.Get()));
  right.shape[1] = 51;  // the first of the next row
  EXPECT_TRUE(MayOverlap(left.Get(), right.Get()));
}

TEST(MayOverlap, TensorsWithoutElementsAndOnOtherDevicesAreApart) {
  Tensor x{4096, 4, {4}, {1}}, empty{4096, 4, {0}, {1}};
  EXPECT_TRUE(MayOverlap(x.Get(), x.Get()));
  EXPECT_FALSE(MayOverlap(x.Get(), empty.Get()));
  DLTensor on_gpu = x.Get();
  on_gpu.device = {kDLMetal, 0};
  EXPECT_FALSE(MayOverlap(x.Get(), on_gpu));
  on_gpu.device = {kDLCUDAHost, 0};
  EXPECT_TRUE(MayOverlap(x.Get(), on_gpu));
}

TEST(MayOverlap, WhatTakesTooManyStepsCountsAsOverlapping) {
  Tensor x{1 << 20, 2, {}, {}}, y{(1 << 20) + 1, 2, {}, {}};
  // Even addresses against odd ones, so that each sum is tried.
  for (int64_t stride : {1001, 1003, 1007, 1009, 1013, 1019, 1021, 1031}) {
    x.shape.push_back(30);
    x.strides.push_back(stride);
    y.shape.push_back(30);
    y.strides.push_back(stride + 1000);
  }
  y.bytes = 1;
  EXPECT_TRUE(MayOverlap(x.Get(), y.Get()));
}

TEST(MayOverlap, PackedElementsOverlapWhereTheirRangesMeet) {
  Tensor x{4096, 1, {8}, {2}}, y{4097, 1, {8}, {2}};
  DLTensor packed = x.Get();
  packed.dtype = {kDLInt, 4, 1};
  EXPECT_FALSE(MayOverlap(x.Get(), y.Get()));
  EXPECT_TRUE(MayOverlap(packed, y.Get()));
}

}  // namespace
}  // namespace dovetail
