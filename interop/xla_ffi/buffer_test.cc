#include "dovetail/interop/xla_ffi/buffer.h"

#include <cstdint>
#include <string>
#include <vector>

#include "dovetail/interop/xla_ffi/type_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

namespace ffi = xla::ffi;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A buffer as XLA passes it to a handler.
struct Passed {
  XLA_FFI_Buffer buffer;
  std::vector<int64_t> dims;

  Passed(ffi::DataType type, std::vector<int64_t> shape, void* data) : dims(std::move(shape)) {
    buffer = {.struct_size = XLA_FFI_Buffer_STRUCT_SIZE,
              .extension_start = nullptr,
              .dtype = static_cast<XLA_FFI_DataType>(type),
              .data = data,
              .rank = static_cast<int64_t>(dims.size()),
              .dims = dims.data()};
  }
  ffi::AnyBuffer any() const { return ffi::AnyBuffer(&buffer); }
};

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(AsTensorTest, AnArgumentIsReadOnlyAndAResultIsNot) {
  alignas(64) float memory[6] = {0, 1, 2, 3, 4, 5};
  const Passed passed(ffi::F32, {2, 3}, memory);
  const Tensor in = AsTensor(passed.any()).value();
  EXPECT_EQ(in.raw_data(), memory);
  EXPECT_EQ(in.device(), Device::Cpu());
  EXPECT_THAT(in.shape(), ElementsAre(2, 3));
  EXPECT_THAT(in.strides(), ElementsAre(3, 1));
  EXPECT_EQ(**in.at<const float>({1, 2}), 5);
  EXPECT_TRUE(in.is_read_only());
  EXPECT_THAT(ErrorOf(in.data<float>().status()), HasSubstr("read-only"));

  const Tensor out = AsTensor(ffi::Result<ffi::AnyBuffer>(passed.any())).value();
  **out.at<float>({1, 2}) = 7;
  EXPECT_EQ(memory[5], 7);
  EXPECT_THAT(ErrorOf(out.data<double>().status()), HasSubstr("float32, not float64"));
}

TEST(AsTensorTest, BuffersOfAFixedTypeAndRankAreTakenToo) {
  int32_t memory[6] = {};
  const Passed passed(ffi::S32, {3, 2}, memory);
  const ffi::BufferR2<ffi::S32> two(&passed.buffer);
  const ffi::Buffer<ffi::S32> any_rank(&passed.buffer);
  EXPECT_EQ(AsTensor(two)->dtype(), kInt32);
  EXPECT_THAT(AsTensor(any_rank)->shape(), ElementsAre(3, 2));
  EXPECT_FALSE(AsTensor(ffi::ResultBufferR2<ffi::S32>(two))->is_read_only());
  EXPECT_TRUE(AsTensorView(two)->access() == Access::kReadOnly);
  EXPECT_TRUE(AsTensorView(ffi::ResultBuffer<ffi::S32>(any_rank))->access() == Access::kReadWrite);
}

TEST(AsTensorTest, NumbersEmptyBuffersAndManyDimensions) {
  double number = 3;
  EXPECT_EQ(**AsTensor(Passed(ffi::F64, {}, &number).any())->data<const double>(), 3);
  const Tensor empty = AsTensor(Passed(ffi::F64, {0, 4}, nullptr).any()).value();
  EXPECT_EQ(empty.num_elements(), 0);
  EXPECT_THAT(AsTensorView(Passed(ffi::F64, {0, 4}, nullptr).any())->shape(), ElementsAre(0, 4));
  const std::vector<int64_t> ones(11, 1);
  EXPECT_EQ(AsTensor(Passed(ffi::F64, ones, &number).any())->rank(), 11);
  EXPECT_EQ(AsTensorView(Passed(ffi::F64, ones, &number).any())->shape().size(), 11);
}

TEST(AsTensorTest, ElementsOfFewerThanEightBitsArePacked) {
  uint8_t memory[3] = {0x21, 0x43, 0x05};
  const Tensor x = AsTensor(Passed(ffi::S4, {5}, memory).any()).value();
  EXPECT_EQ(x.dtype(), kInt4);
  EXPECT_EQ(x.packing(), Packing::kPacked);
  EXPECT_EQ(x.nbytes(), 3);
  EXPECT_EQ(x.storage()->nbytes(), 3);
}

TEST(AsTensorTest, MemoryOfAGpuSaysSo) {
  float memory[2];
  const Passed passed(ffi::F32, {2}, memory);
  const Tensor x = AsTensor(passed.any(), Device::Cuda(3)).value();
  EXPECT_EQ(x.device(), Device::Cuda(3));
  EXPECT_THAT(ErrorOf(x.data<const float>().status()), HasSubstr("cuda:3"));
  EXPECT_EQ(AsTensorView(passed.any(), Device::Cuda(3))->view().device, Device::Cuda(3));
}

TEST(AsTensorTest, MisalignedMemoryIsSharedButHasNoTypedPointer) {
  alignas(8) char memory[12];
  const Tensor x = AsTensor(Passed(ffi::F32, {2}, memory + 1).any()).value();
  EXPECT_EQ(x.raw_data(), memory + 1);
  EXPECT_THAT(ErrorOf(x.data<const float>().status()), HasSubstr("not aligned"));
}

TEST(AsTensorTest, WhatIsNoTensorIsRefused) {
  char memory[1];
  const absl::Status token = AsTensor(Passed(ffi::TOKEN, {}, memory).any()).status();
  EXPECT_EQ(token.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(ErrorOf(token), HasSubstr("XLA buffer of type TOKEN cannot be taken in"));
  EXPECT_THAT(ErrorOf(AsTensorView(Passed(ffi::U1, {8}, memory).any()).status()),
              HasSubstr("no such element type"));
  EXPECT_THAT(ErrorOf(AsTensor(Passed(ffi::F32, {2}, nullptr).any()).status()),
              HasSubstr("nullptr"));
  EXPECT_THAT(ErrorOf(AsTensorView(Passed(ffi::F32, {2}, nullptr).any()).status()),
              HasSubstr("nullptr"));
  for (const std::vector<int64_t>& bad :
       {std::vector<int64_t>{-1}, {int64_t{1} << 40, int64_t{1} << 40}, {int64_t{1} << 62}}) {
    EXPECT_FALSE(AsTensor(Passed(ffi::F64, bad, memory).any()).ok());
    EXPECT_FALSE(AsTensorView(Passed(ffi::F64, bad, memory).any()).ok());
  }
}

TEST(AsTensorViewTest, PointsToTheViewsOwnShapeAndStrides) {
  float memory[6];
  const Passed passed(ffi::F32, {2, 3}, memory);
  absl::StatusOr<XlaBufferView> made = AsTensorView(ffi::Result<ffi::AnyBuffer>(passed.any()));
  const XlaBufferView copy = *made;
  made = absl::CancelledError();
  const TensorView v = copy;
  EXPECT_EQ(v.data, memory);
  EXPECT_EQ(v.dtype, kFloat32);
  EXPECT_EQ(v.access, Access::kReadWrite);
  EXPECT_EQ(v.shape.data(), copy.layout().shape().data());
  EXPECT_THAT(v.shape, ElementsAre(2, 3));
  EXPECT_THAT(v.strides, ElementsAre(3, 1));
  static_assert(!std::is_convertible_v<XlaBufferView&&, TensorView>);  // would dangle
}

TEST(XlaTypeTableTest, EveryTypeOfXlaIsInTheTableOrHasNoCounterpart) {
  int known = 0;
  for (int code = 0; code < 256; ++code) {
    const auto type = static_cast<ffi::DataType>(code);
    const DType dtype = FromXlaDataType(type);
    if (!dtype.is_known()) continue;
    ++known;
    EXPECT_EQ(ToXlaDataType(dtype), type);
    // XLA's headers count whole bytes.
    EXPECT_EQ(ffi::ByteWidth(type), static_cast<size_t>(dtype.itemsize())) << dtype;
  }
  EXPECT_EQ(known, 28);
  EXPECT_EQ(ToXlaDataType(kComplex32), std::nullopt);
  EXPECT_EQ(ToXlaDataType({TypeKind::kFloat, 32, 4}), std::nullopt);
  EXPECT_EQ(FromXlaDataType(ffi::PRED), kBool);
  EXPECT_EQ(FromXlaDataType(ffi::C64), kComplex64);
}

}  // namespace
}  // namespace dovetail
