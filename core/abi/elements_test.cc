// Fills and casts through the C interface of backends.

#include <cstring>
#include <memory>
#include <vector>

#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/core/testing/fake_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using testing::ElementsAre;

// A view of one dimension on the fake device. Borrows all of its arguments.
TensorView View(void* data, DType dtype, const int64_t& count, const int64_t& step) {
  return {.data = data,
          .device = Device::Cuda(0),
          .dtype = dtype,
          .shape = {&count, 1},
          .strides = {&step, 1}};
}

TEST(BackendAbi, FillsPassWithTheirElement) {
  FakeLog log;
  class Filling final : public FakeBackend {
   public:
    using FakeBackend::FakeBackend;
    absl::Status Fill(const TensorView& dst, const void* element, const Stream& stream) override {
      EXPECT_EQ(stream, Stream::Default(Device::Cuda(0)));
      for (int64_t i = 0; i < dst.shape[0]; ++i) {
        std::memcpy(static_cast<int32_t*>(dst.data) + i * dst.strides[0], element, 4);
      }
      return absl::OkStatus();
    }
  };
  const std::unique_ptr<DeviceBackend> filling = *ImportBackend(
      ExportBackend(std::make_unique<Filling>(std::vector<DeviceType>{DeviceType::kCuda}, &log)));
  std::vector<int32_t> values(4);
  const int64_t two = 2;
  const TensorView view = View(values.data(), kInt32, two, two);
  const int32_t nine = 9;
  ASSERT_TRUE(filling->Fill(view, &nine, Stream::Default(Device::Cuda(0))).ok());
  EXPECT_THAT(values, ElementsAre(9, 0, 9, 0));
}

TEST(BackendAbi, CastsPassWithBothTypes) {
  FakeLog log;
  class Casting final : public FakeBackend {
   public:
    using FakeBackend::FakeBackend;
    absl::Status CastCopy(const TensorView& dst, const TensorView& src,
                          const Stream& stream) override {
      EXPECT_EQ(stream, Stream::Default(Device::Cuda(0)));
      EXPECT_EQ(src.dtype, kInt8);
      if (dst.dtype != kFloat64) return absl::UnimplementedError("float64 alone");
      for (int64_t i = 0; i < dst.shape[0]; ++i) {
        static_cast<double*>(dst.data)[i] = static_cast<const int8_t*>(src.data)[2 * i];
      }
      return absl::OkStatus();
    }
  };
  const std::unique_ptr<DeviceBackend> casting = *ImportBackend(
      ExportBackend(std::make_unique<Casting>(std::vector<DeviceType>{DeviceType::kCuda}, &log)));
  std::vector<double> to(2);
  std::vector<int8_t> from = {-1, 2, 3};
  const int64_t one = 1, two = 2;
  TensorView dst = View(to.data(), kFloat64, two, one);
  const TensorView src = View(from.data(), kInt8, two, two);
  const Stream stream = Stream::Default(Device::Cuda(0));
  ASSERT_TRUE(casting->CastCopy(dst, src, stream).ok());
  EXPECT_THAT(to, ElementsAre(-1, 3));
  dst.dtype = kFloat32;
  EXPECT_EQ(casting->CastCopy(dst, src, stream).message(), "float64 alone");
}

TEST(BackendAbi, ProgressionsPassWhole) {
  FakeLog log;
  class Counting final : public FakeBackend {
   public:
    using FakeBackend::FakeBackend;
    absl::Status Arange(const TensorView& dst, const Progression& numbers,
                        const Stream& stream) override {
      EXPECT_EQ(stream, Stream::Default(Device::Cuda(0)));
      static_cast<double*>(dst.data)[0] =
          numbers.is_integer ? static_cast<double>(numbers.IntegerAt(3)) : numbers.RealAt(3);
      return absl::OkStatus();
    }
  };
  const std::unique_ptr<DeviceBackend> counting = *ImportBackend(
      ExportBackend(std::make_unique<Counting>(std::vector<DeviceType>{DeviceType::kCuda}, &log)));
  double to[1];
  const int64_t one = 1;
  const TensorView dst = View(to, kFloat64, one, one);
  const Stream stream = Stream::Default(Device::Cuda(0));
  ASSERT_TRUE(counting->Arange(dst, {.is_integer = true, .start = 5, .step = -2}, stream).ok());
  EXPECT_EQ(to[0], -1);
  ASSERT_TRUE(
      counting->Arange(dst, {.is_integer = false, .real_start = 0.5, .real_step = 0.25}, stream)
          .ok());
  EXPECT_EQ(to[0], 1.25);
}

}  // namespace
}  // namespace dovetail
