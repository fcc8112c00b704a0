// Casts on a GPU, compared with the CPU's to the bit: all values of types of one and two bytes,
// random ones of wider types, dense, strided and transposed. DOVETAIL_TEST_CASES sets the number of
// rows; all values need 256.

#include <algorithm>
#include <cstring>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/fill_new.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/core/tensor.h"
#include "dovetail/tests/real_gpu/device_under_test.h"
#include "dovetail/tests/real_gpu/random_tensors.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

std::vector<DType> WholeByteTypes() {
  std::vector<DType> types;
#define DOVETAIL_DTYPE(id, kind, bits, name) \
  if (bits % 8 == 0 && k##id != kHandle) types.push_back(k##id);
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
  return types;
}

class GpuCast : public OnGpu {
 protected:
  template <typename View>
  void ExpectSameCast(const Tensor& host, const Tensor& there, DType to, View view) {
    SCOPED_TRACE(testing::Message() << host.dtype() << " to " << to);
    Tensor made = *Tensor::Empty(view(host).shape(), to, device());
    const absl::Status s = CopyInto(made, view(there));
    ASSERT_TRUE(s.ok()) << s;
    const Tensor back = *Copied(made, {.device = Device::Cpu()});
    const Tensor expected = *Copied(view(host), {.dtype = to});
    if (std::memcmp(back.raw_data(), expected.raw_data(), back.nbytes()) == 0) return;
    const auto* a = static_cast<const unsigned char*>(back.raw_data());
    const auto* b = static_cast<const unsigned char*>(expected.raw_data());
    const int64_t at = std::mismatch(a, a + back.nbytes(), b).first - a;
    FAIL() << "element " << at / to.itemsize() << " of " << back.shape()[0] << "…, byte "
           << at % to.itemsize() << ": " << int{a[at]} << " for " << int{b[at]};
  }
};

TEST_F(GpuCast, EveryPairOfTypesGivesTheBitsOfTheCpu) {
  Random random(1);
  const int64_t rows = Cases(512);
  for (const DType from : WholeByteTypes()) {
    const Tensor host = OnHost({rows, 256}, from, random);
    if (from.bits <= 16) {
      auto* bytes = static_cast<unsigned char*>(host.raw_data());
      for (int64_t i = 0; i < host.num_elements(); ++i) {
        std::memcpy(bytes + i * from.itemsize(), &i, static_cast<size_t>(from.itemsize()));
      }
    }
    const Tensor there = *Copied(host, {.device = device()});
    for (const DType to : WholeByteTypes()) {
      if (from == to || (from.is_complex() && !to.is_complex() && to != kBool)) continue;
      ExpectSameCast(host, there, to, [](const Tensor& t) { return t; });
      ExpectSameCast(host, there, to, [](const Tensor& t) { return *t.Transpose(0, 1); });
      ExpectSameCast(host, there, to,
                     [](const Tensor& t) { return *t.Slice(1, {.start = 1, .step = 3}); });
      if (HasFatalFailure()) return;
    }
  }
}

// float32 numbers near each number of a narrow format, and near the middles between them.
TEST_F(GpuCast, RoundingIsThatOfTheCpu) {
  Random random(2);
  for (const DType to : {kFloat16, kBFloat16, kFloat8E4M3Fn, kFloat8E5M2, kFloat8E4M3Fnuz}) {
    for (const DType from : {kFloat32, kFloat64}) {
      const Tensor host = *Tensor::Empty({int64_t{1024} * Cases(512)}, from);
      for (int64_t i = 0; i < host.num_elements(); ++i) {
        const double number = DecodeFloat(*FloatFormatOf(to), random() % (1u << to.bits)) *
                              (1 + (static_cast<double>(random() % 5) - 2) * 0x1p-5 +
                               (static_cast<double>(random() % 3) - 1) * 0x1p-30);
        if (from == kFloat32) {
          static_cast<float*>(host.raw_data())[i] = static_cast<float>(number);
        } else {
          static_cast<double*>(host.raw_data())[i] = number;
        }
      }
      ExpectSameCast(host, *Copied(host, {.device = device()}), to,
                     [](const Tensor& t) { return t; });
    }
  }
}

TEST_F(GpuCast, NumbersOfAProgressionAreThoseOfTheHost) {
  const Progression reals{.is_integer = false, .real_start = -0.3, .real_step = 0.1};
  Tensor there = *Tensor::Empty({1 << 20}, kFloat64, device());
  ASSERT_TRUE(FillNew(there, reals).ok());
  const Tensor back = *Copied(there, {.device = Device::Cpu()});
  for (int64_t i = 0; i < back.num_elements(); ++i) {
    ASSERT_EQ(static_cast<const double*>(back.raw_data())[i], reals.RealAt(i)) << i;
  }
}

}  // namespace
}  // namespace dovetail
