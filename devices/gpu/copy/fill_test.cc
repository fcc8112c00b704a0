// Fills and numbers on emulated GPUs: of any type, at any address, without the host.

#include <cmath>
#include <cstring>
#include <vector>

#include "dovetail/core/internal/fill_new.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

class Fills : public EmulatedGpu {
 protected:
  static std::vector<unsigned char> Bytes(const Tensor& t) {
    const Tensor host = *Copied(t, {.device = Device::Cpu()});
    const auto* data = static_cast<const unsigned char*>(host.raw_data());
    return {data, data + host.nbytes()};
  }
  void ExpectNoHost() {
    EXPECT_EQ(gpu().counts().host_waits, 0);
    EXPECT_EQ(gpu().counts().copies, 0);
  }
};

constexpr DType kTypes[] = {
#define DOVETAIL_DTYPE(id, kind, bits, name) k##id,
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
    {TypeKind::kFloat, 32, 3},
    {TypeKind::kUInt, 8, 3},
    {TypeKind::kFloat4E2M1Fn, 4, 2},
    {TypeKind::kInt, 4, 3},
    {TypeKind::kFloat, 64, 4}};

TEST_F(Fills, NewMemoryOfEveryTypeIsFilledWhereItIs) {
  unsigned char element[32];
  for (int i = 0; i < 32; ++i) element[i] = static_cast<unsigned char>(0x25 + 7 * i);
  for (const DType dtype : kTypes) {
    for (const int64_t count : {1, 2, 3, 7, 8, 101}) {
      SCOPED_TRACE(testing::Message() << dtype << ", " << count);
      Tensor host = *Tensor::Empty({count}, dtype);
      unsigned char own[32];
      std::memcpy(own, element, sizeof own);
      if (dtype.is_sub_byte()) {  // the bits of one element
        own[dtype.element_bits() / 8] &=
            static_cast<unsigned char>((1 << dtype.element_bits() % 8) - 1);
      }
      ASSERT_TRUE(FillNew(host, own).ok());
      Tensor there = *Tensor::Empty({count}, dtype, device());
      gpu().ResetCounts();
      ASSERT_TRUE(FillNew(there, own).ok());
      ExpectNoHost();
      EXPECT_EQ(Bytes(there), Bytes(host));
      gpu().ResetCounts();
      ASSERT_TRUE(FillNew(there, nullptr).ok());
      ExpectNoHost();
      EXPECT_THAT(Bytes(there), testing::Each(0));
    }
  }
}

TEST_F(Fills, AViewMayBeginAtAnyAddress) {
  const uint64_t element = 0x0807060504030201;
  for (const DType dtype : {kInt16, kInt32, kInt64}) {
    for (int64_t begin = 0; begin < 9; ++begin) {
      for (const int64_t step : {1, 2}) {
        SCOPED_TRACE(testing::Message() << dtype << " from byte " << begin << ", step " << step);
        const Tensor host = *Tensor::Empty({160}, kUInt8);
        std::memset(host.raw_data(), 0xEE, 160);
        const Tensor there = OnDevice(host);
        const auto view = [&](const Tensor& t) {
          return *Tensor::Make(t.storage(), begin, dtype, *Layout::Contiguous({18}), {})
                      ->Slice(0, {.step = step});
        };
        gpu().ResetCounts();
        ASSERT_TRUE(Fill(view(there), &element).ok());
        ExpectNoHost();
        ASSERT_TRUE(Fill(view(host), &element).ok());
        EXPECT_EQ(Bytes(there), Bytes(host));
      }
    }
  }
}

TEST_F(Fills, WithoutKernelsMisalignedMemoryIsFilledFromTheHost) {
  Start({.has_kernels = false});
  const uint16_t element = 0x0201;
  const Tensor there = *Tensor::Empty({41}, kUInt8, device());
  ASSERT_TRUE(
      Fill(*Tensor::Make(there.storage(), 1, kInt16, *Layout::Contiguous({20}), {}), &element)
          .ok());
  const std::vector<unsigned char> bytes = Bytes(there);
  for (int i = 1; i < 41; ++i) EXPECT_EQ(bytes[i], 2 - i % 2);
}

TEST_F(Fills, NumbersAreMadeOnTheDevice) {
  const Progression integers{.is_integer = true, .start = -3, .step = 5};
  const Progression reals{.is_integer = false, .real_start = -0.3, .real_step = 0.7};
  for (const Progression& numbers : {integers, reals}) {
    for (const DType dtype : {kInt8, kInt16, kInt32, kInt64, kFloat32, kFloat64}) {
      SCOPED_TRACE(testing::Message() << dtype << ", " << numbers.is_integer);
      Tensor there = *Tensor::Empty({20}, dtype, device());
      gpu().ResetCounts();
      ASSERT_TRUE(FillNew(there, numbers).ok());
      ExpectNoHost();
      EXPECT_EQ(gpu().counts().launches, 1);
      const Tensor wide = *Copied(there, {.dtype = kFloat64, .device = Device::Cpu()});
      for (int64_t i = 0; i < 20; ++i) {
        double expected =
            numbers.is_integer ? static_cast<double>(numbers.IntegerAt(i)) : numbers.RealAt(i);
        if (dtype == kFloat32) expected = static_cast<float>(expected);
        if (dtype.kind == TypeKind::kInt) expected = std::trunc(expected);
        EXPECT_EQ(static_cast<const double*>(wide.raw_data())[i], expected) << i;
      }
    }
  }
}

// A float32 in between would round twice.
TEST_F(Fills, NumbersOfNarrowTypesAreRoundedOnce) {
  for (const DType dtype : {kFloat16, kBFloat16, kFloat8E4M3Fn, kFloat8E5M2}) {
    const FloatFormat format = *FloatFormatOf(dtype);
    // Just above the middle of 1 and the next number.
    const double start = 1 + std::ldexp(1.0, -format.mantissa_bits - 1) + 0x1p-40;
    for (const Progression& numbers :
         {Progression{.is_integer = false, .real_start = start, .real_step = 0.25},
          Progression{.is_integer = true, .start = 1, .step = 1}}) {
      Tensor there = *Tensor::Empty({40}, dtype, device());
      ASSERT_TRUE(FillNew(there, numbers).ok());
      const std::vector<unsigned char> bytes = Bytes(there);
      for (int64_t i = 0; i < 40; ++i) {
        uint64_t code = 0;
        std::memcpy(&code, &bytes[i * dtype.itemsize()], dtype.itemsize());
        const double number =
            numbers.is_integer ? static_cast<double>(numbers.IntegerAt(i)) : numbers.RealAt(i);
        EXPECT_EQ(code, EncodeFloat(format, number)) << dtype << ", " << i;
      }
    }
  }
}

TEST_F(Fills, NumbersThatNoKernelMakesAreLeftToTheHost) {
  const Progression numbers;
  Tensor x = *Tensor::Empty({4}, kComplex64, device());
  EXPECT_TRUE(absl::IsUnimplemented(FillNew(x, numbers)));
  Tensor y = *Tensor::Empty({4}, kInt64);
  EXPECT_TRUE(absl::IsUnimplemented(FillNew(y, numbers)));
}

}  // namespace
}  // namespace dovetail
