#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <opencv2/core.hpp>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/opencv/depth_table.h"
#include "dovetail/interop/opencv/exceptions.h"
#include "dovetail/interop/opencv/export.h"
#include "dovetail/interop/opencv/import.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename T>
std::vector<T> Counting(int64_t n) {
  std::vector<T> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), T{0});
  return values;
}

Tensor New(std::vector<int64_t> shape, DType dtype) {
  RegisterDefaultBackends();
  return Tensor::Empty(shape, dtype).value();
}

// A tensor that counts how often it is released.
Tensor Counted(std::vector<int64_t> shape, std::vector<int64_t> strides, int* released,
               Device device = Device::Cpu()) {
  auto memory = std::make_shared<std::vector<float>>(Counting<float>(64));
  return Tensor::Wrap(memory->data(), shape, strides, device, [memory, released] { ++*released; })
      .value();
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(AsMatTest, AMatrixIsSharedWithItsSteps) {
  Tensor x = Tensor::Wrap(Counting<float>(12), {3, 4}).value();
  Tensor rows = x.Slice(0, {.start = 0, .stop = 3, .step = 2}).value();
  const cv::Mat mat = AsMat(rows).value();
  EXPECT_EQ(mat.data, static_cast<uchar*>(x.raw_data()));
  EXPECT_EQ(mat.type(), CV_32FC1);
  EXPECT_EQ(mat.rows, 2);
  EXPECT_EQ(mat.cols, 4);
  EXPECT_EQ(mat.step[0], 32u);
  EXPECT_EQ(mat.at<float>(1, 3), 11);
  EXPECT_EQ(cv::sum(mat)[0], 0 + 1 + 2 + 3 + 8 + 9 + 10 + 11);
}

TEST(AsMatTest, AVectorIsAColumnAndAScalarIsOneElement) {
  Tensor x = Tensor::Wrap(Counting<float>(6), {6}).value();
  Tensor even = x.Slice(0, {.start = 0, .stop = 6, .step = 2}).value();
  const cv::Mat column = AsMat(even).value();
  EXPECT_EQ(column.size(), cv::Size(1, 3));
  EXPECT_EQ(column.at<float>(2), 4);
  EXPECT_EQ(column.data, static_cast<uchar*>(x.raw_data()));

  const cv::Mat one = AsMat(x.Select(0, 5).value()).value();
  EXPECT_EQ(one.total(), 1u);
  EXPECT_EQ(one.at<float>(0), 5);
}

TEST(AsMatTest, TheMatAndItsCopiesKeepTheMemory) {
  int released = 0;
  cv::Mat kept;
  {
    cv::Mat mat = AsMat(Counted({4, 4}, {4, 1}, &released)).value();
    kept = mat(cv::Rect(1, 1, 2, 2));
    EXPECT_EQ(mat.u->refcount, 2);
  }
  EXPECT_EQ(released, 0);
  EXPECT_EQ(kept.at<float>(0, 0), 5);
  kept.release();
  EXPECT_EQ(released, 1);
}

TEST(AsMatTest, CreateOfAnotherSizeLeavesTheTensor) {
  int released = 0;
  Tensor x = Counted({4, 4}, {4, 1}, &released);
  cv::Mat mat = AsMat(x).value();
  mat.create(8, 8, CV_8U);
  mat.setTo(255);
  EXPECT_NE(mat.data, static_cast<uchar*>(x.raw_data()));
  EXPECT_EQ(**x.at<float>({0, 1}), 1);
  EXPECT_EQ(x.storage()->use_count(), 1);
  mat.release();
  EXPECT_EQ(released, 0);
}

TEST(AsMatTest, CreateOfTheSameSizeWritesIntoTheTensor) {
  Tensor x = Tensor::Wrap(Counting<float>(4), {2, 2}).value();
  cv::Mat mat = AsMat(x).value();
  cv::add(mat, cv::Scalar(1), mat);
  EXPECT_THAT(*x.span<float>(), ElementsAre(1, 2, 3, 4));
}

TEST(AsMatTest, AUMatOfTheMatKeepsTheMemory) {
  int released = 0;
  {
    cv::Mat mat = AsMat(Counted({4, 4}, {4, 1}, &released)).value();
    cv::UMat shared = mat.getUMat(cv::ACCESS_READ);
    mat.release();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(shared.getMat(cv::ACCESS_READ).at<float>(3, 3), 15);
  }
  EXPECT_EQ(released, 1);
}

TEST(AsMatTest, AReadOnlyTensorIsRefusedAndOffered) {
  Tensor x = Tensor::Wrap(Counting<float>(4), {2, 2}).value().ReadOnly();
  EXPECT_THAT(ErrorOf(AsMat(x).status()), HasSubstr("AsReadOnlyMat"));
  const ReadOnlyMat mat = AsReadOnlyMat(x).value();
  EXPECT_EQ(cv::sum(mat)[0], 6);
  EXPECT_EQ(mat.get().data, static_cast<uchar*>(x.raw_data()));
}

TEST(AsMatTest, ATensorWithoutElementsIsAMatOfItsSize) {
  const cv::Mat mat = AsMat(New({0, 3}, kFloat32)).value();
  EXPECT_EQ(mat.size(), cv::Size(3, 0));
  EXPECT_EQ(mat.type(), CV_32F);
  EXPECT_TRUE(mat.empty());
}

TEST(AsMatTest, StridesThatAMatCannotHaveAreRefused) {
  int released = 0;
  const std::pair<std::vector<int64_t>, std::vector<int64_t>> layouts[] = {
      {{3, 4}, {1, 3}},        // column-major
      {{3, 4}, {8, 2}},        // gaps in a row
      {{3, 4}, {0, 1}},        // broadcast
      {{3, 4}, {2, 1}},        // rows overlap
      {{2, 3, 4}, {4, 8, 1}},  // permuted
  };
  for (const auto& [shape, strides] : layouts) {
    const absl::StatusOr<cv::Mat> mat =
        AsMat(Counted(shape, strides, &released), ChannelDimension::kNone);
    EXPECT_EQ(mat.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(ErrorOf(mat.status()), HasSubstr("Copied(tensor)"));
  }
  Tensor x = Tensor::Wrap(Counting<float>(4), {4}).value();
  Tensor reversed = x.Slice(0, {.start = 3, .stop = std::nullopt, .step = -1}).value();
  EXPECT_FALSE(AsMat(reversed).ok());
  EXPECT_FALSE(AsMat(Counted({2, 2, 3}, {16, 4, 2}, &released)).ok());  // channels apart
  EXPECT_EQ(released, 6);
}

TEST(AsMatTest, StridesOfSingleElementsDoNotCount) {
  int released = 0;
  const cv::Mat row = AsMat(Counted({1, 4}, {-7, 1}, &released)).value();
  EXPECT_EQ(row.at<float>(0, 3), 3);
  EXPECT_TRUE(row.isContinuous());
  EXPECT_EQ(AsMat(Counted({4, 1}, {4, 99}, &released))->at<float>(3, 0), 12);
}

TEST(AsMatTest, AMisalignedTensorIsRefused) {
  std::vector<char> memory(20);
  char* const data = memory.data() + (reinterpret_cast<uintptr_t>(memory.data()) % 2 == 0 ? 1 : 0);
  Tensor x =
      Tensor::Wrap(reinterpret_cast<float*>(data), {2, 2}, {2, 1}, Device::Cpu(), [] {}).value();
  EXPECT_THAT(ErrorOf(AsMat(x).status()), HasSubstr("not aligned to 4 bytes"));
}

TEST(AsMatTest, SizesThatOverflowAreRefusedOrEmpty) {
  constexpr int64_t kHuge = std::numeric_limits<int>::max();
  static uint8_t memory[1];
  const auto over = [&](std::vector<int64_t> shape, std::vector<int64_t> strides) {
    Tensor x = Tensor::Wrap(memory, shape, strides, Device::Cpu(), [] {}).value();
    return AsMat(x, ChannelDimension::kNone);
  };
  EXPECT_THAT(ErrorOf(over({kHuge + 1, 1}, {1, 1}).status()), HasSubstr("fit an int"));
  EXPECT_FALSE(over({2, 2, 2}, {4, int64_t{1} << 62, 1}).ok());
  const cv::Mat empty = over({kHuge, kHuge, 0}, {-1, 0, 0}).value();
  EXPECT_TRUE(empty.empty());
  EXPECT_EQ(empty.size[1], kHuge);
}

TEST(AsMatTest, TheMatMayBeReleasedOnAnotherThread) {
  int released = 0;
  cv::Mat mat = AsMat(Counted({4, 4}, {4, 1}, &released)).value();
  std::thread([last = std::move(mat)] {}).join();
  EXPECT_EQ(released, 1);
}

TEST(AsMatTest, MatsMayBeReleasedInAnyNumber) {  // more than Dovetail's cache of blocks holds
  int released = 0;
  std::vector<cv::Mat> mats;
  for (int i = 0; i < 100; ++i) mats.push_back(AsMat(Counted({2, 2}, {2, 1}, &released)).value());
  mats.clear();
  EXPECT_EQ(released, 100);
}

TEST(AsMatTest, AnExceptionOfOpenCvIsAStatus) {
  const absl::Status status = internal_opencv::Catching(
      []() -> absl::Status { CV_Error(cv::Error::StsBadArg, "no such thing"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(ErrorOf(status), HasSubstr("no such thing"));
}

TEST(AsMatTest, WhatOpenCvLacksIsRefused) {
  std::vector<DType> lacking = {kComplex64, kFloat8E4M3Fn, kInt4, DType{TypeKind::kFloat, 32, 4}};
  if (CV_VERSION_MAJOR < 5) lacking.insert(lacking.end(), {kBFloat16, kBool, kInt64, kUInt32});
  for (const DType dtype : lacking) {
    EXPECT_THAT(ErrorOf(AsMat(New({2, 2}, dtype)).status()),
                HasSubstr("OpenCV has no " + dtype.ToString()));
  }
  EXPECT_THAT(ErrorOf(AsMat(Tensor()).status()), HasSubstr("null"));
  int released = 0;
  EXPECT_THAT(ErrorOf(AsMat(Counted({2, 2}, {2, 1}, &released, Device::Cuda(0))).status()),
              HasSubstr("Pass Copied(tensor, {.device = Device::Cpu()})"));
  const Tensor wide = New({1, 1, CV_CN_MAX + 1}, kUInt8);
  EXPECT_THAT(ErrorOf(AsMat(wide).status()), HasSubstr(std::to_string(CV_CN_MAX) + " channels"));
  EXPECT_EQ(AsMat(wide, ChannelDimension::kNone)->dims, 3);
  EXPECT_FALSE(AsMat(New(std::vector<int64_t>(40, 1), kUInt8)).ok());
}

TEST(FromMatTest, AMatIsSharedAndCounted) {
  cv::Mat mat(2, 3, CV_16SC2, cv::Scalar(7, -7));
  {
    Tensor x = FromMat(mat).value();
    EXPECT_EQ(mat.u->refcount, 2);
    EXPECT_EQ(x.raw_data(), mat.data);
    EXPECT_EQ(x.dtype(), kInt16);
    EXPECT_THAT(x.shape(), ElementsAre(2, 3, 2));
    EXPECT_THAT(x.strides(), ElementsAre(6, 2, 1));
    EXPECT_EQ(**x.at<int16_t>({1, 2, 1}), -7);
    EXPECT_FALSE(x.is_read_only());
  }
  EXPECT_EQ(mat.u->refcount, 1);
}

TEST(FromMatTest, TheTensorKeepsTheMatAlive) {
  Tensor x = FromMat(cv::Mat(2, 2, CV_32F, cv::Scalar(5))).value();
  EXPECT_THAT(*x.span<float>(), ElementsAre(5, 5, 5, 5));
}

TEST(FromMatTest, ARegionKeepsItsSteps) {
  cv::Mat mat(8, 8, CV_8UC3);
  Tensor x = FromMat(mat(cv::Rect(2, 1, 3, 4))).value();
  EXPECT_THAT(x.shape(), ElementsAre(4, 3, 3));
  EXPECT_THAT(x.strides(), ElementsAre(24, 3, 1));
  EXPECT_EQ(x.raw_data(), mat.ptr(1, 2));
}

TEST(FromMatTest, OneChannelIsADimensionOnlyWhereThatIsAsked) {
  const cv::Mat mat(2, 3, CV_8U);
  EXPECT_THAT(FromMat(mat)->shape(), ElementsAre(2, 3));
  EXPECT_THAT(FromMat(mat, MatChannels::kAlways)->shape(), ElementsAre(2, 3, 1));
}

TEST(FromMatTest, AMatOfSeveralDimensions) {
  const int sizes[] = {2, 3, 4};
  const cv::Mat mat(3, sizes, CV_64FC2);
  EXPECT_THAT(FromMat(mat)->shape(), ElementsAre(2, 3, 4, 2));
  EXPECT_THAT(FromMat(mat)->strides(), ElementsAre(24, 8, 2, 1));
}

TEST(FromMatTest, EveryDepthComesInAndGoesOut) {
  for (const auto& [depth, dtype] : internal_opencv::kDepths) {
    cv::Mat mat(2, 2, CV_MAKETYPE(depth, 1));
    Tensor x = FromMat(mat).value();
    EXPECT_EQ(x.dtype(), dtype);
    EXPECT_EQ(x.dtype().itemsize(), static_cast<int64_t>(mat.elemSize1()));
    EXPECT_EQ(AsMat(x)->type(), mat.type());
    EXPECT_EQ(AsMat(x)->data, mat.data);
  }
}

TEST(FromMatTest, EmptyMatsHaveNoElements) {
  EXPECT_THAT(FromMat(cv::Mat())->shape(), ElementsAre(0, 0));
  EXPECT_THAT(FromMat(cv::Mat(0, 3, CV_32F))->shape(), ElementsAre(0, 3));
}

#if CV_VERSION_MAJOR >= 5
TEST(FromMatTest, AMatOfOneOrNoDimensionKeepsThem) {
  const cv::Mat line(std::vector<int>{3}, CV_32FC2, cv::Scalar(1, 2));
  EXPECT_THAT(FromMat(line)->shape(), ElementsAre(3, 2));
  const cv::Mat one(std::vector<int>{}, CV_32F, cv::Scalar(1));
  EXPECT_EQ(FromMat(one)->rank(), 0);
}
#endif

TEST(FromMatTest, AMatOverTheProgramsMemoryIsBorrowed) {
  float memory[] = {1, 2, 3, 4};
  Tensor x = FromMat(cv::Mat(2, 2, CV_32F, memory)).value();
  EXPECT_EQ(x.raw_data(), memory);
}

TEST(FromMatTest, AStepThatIsNoMultipleOfAnElementIsRefused) {
  cv::Mat mat(2, 2, CV_16U);
  mat.step[0] = 7;
  EXPECT_THAT(ErrorOf(FromMat(mat).status()), HasSubstr("Pass mat.clone()"));
}

TEST(FromMatTest, TheStepOfASingleRowDoesNotCount) {
  cv::Mat mat(1, 3, CV_16U, cv::Scalar(4));
  mat.step[0] = 7;
  EXPECT_THAT(*FromMat(mat)->span<uint16_t>(), ElementsAre(4, 4, 4));
}

TEST(FromMatTest, ATypedMatAndAnExpressionAreMats) {
  const cv::Mat_<double> mat(1, 2, 3.0);
  EXPECT_EQ(FromMat(mat)->raw_data(), mat.data);
  EXPECT_THAT(*FromMat(mat * 2)->span<double>(), ElementsAre(6, 6));
}

TEST(FromMatTest, AUMatIsTakenByItsMat) {
  static_assert(!std::is_invocable_v<decltype([](auto&& x) -> decltype(FromMat(x)) {}), cv::UMat>);
  const cv::UMat mat(2, 2, CV_32S, cv::Scalar(6));
  EXPECT_THAT(*FromMat(mat.getMat(cv::ACCESS_READ))->span<int32_t>(), ElementsAre(6, 6, 6, 6));
}

TEST(FromMatTest, AMatOfATensorGivesTheSameStorage) {
  int released = 0;
  Tensor x = Counted({4, 4}, {4, 1}, &released, Device{DeviceType::kCudaHost, 0});
  const cv::Mat part = AsMat(x).value()(cv::Rect(1, 2, 3, 2));
  Tensor back = FromMat(part).value();
  EXPECT_EQ(back.storage(), x.storage());
  EXPECT_EQ(back.device(), x.device());
  EXPECT_EQ(back.byte_offset(), x.byte_offset() + 9 * 4);
  EXPECT_THAT(back.shape(), ElementsAre(2, 3));
  EXPECT_THAT(back.strides(), ElementsAre(4, 1));
  x = Tensor();
  EXPECT_EQ(released, 0);
  EXPECT_EQ(part.u->refcount, 1);
}

TEST(FromMatTest, AReadOnlyMatGivesAReadOnlyTensor) {
  Tensor x = Tensor::Wrap(Counting<float>(4), {2, 2}).value();
  const ReadOnlyMat mat = AsReadOnlyMat(x.ReadOnly()).value();
  const cv::Mat copy = mat.get();
  EXPECT_TRUE(FromMat(mat)->is_read_only());
  EXPECT_TRUE(FromMat(copy)->is_read_only());
  EXPECT_TRUE(FromMat(ReadOnlyMat(cv::Mat(2, 2, CV_8U)))->is_read_only());
  EXPECT_FALSE(FromMat(AsMat(x).value())->is_read_only());
}

TEST(OpenCvTest, AMatGoesInAndOutAsTheSameMemory) {
  cv::Mat mat(4, 5, CV_8UC3);
  Tensor x = FromMat(mat).value();
  const cv::Mat back = AsMat(x).value();
  EXPECT_EQ(back.data, mat.data);
  EXPECT_EQ(back.type(), mat.type());
  EXPECT_EQ(back.size(), mat.size());
  mat.release();
  x = Tensor();
  EXPECT_EQ(back.u->refcount, 1);
}

}  // namespace
}  // namespace dovetail
