// Which dimension of a tensor becomes the channels of a Mat.

#include <cstdint>
#include <memory>
#include <numeric>
#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/opencv/export.h"
#include "dovetail/interop/opencv/mat_layout.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

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

// Numbers from 0 on, with these strides.
Tensor Strided(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  auto memory = std::make_shared<std::vector<float>>(Counting<float>(64));
  return Tensor::Wrap(memory->data(), shape, strides, Device::Cpu(), [memory] {}).value();
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(ChannelsTest, TheLastOfThreeDimensionsIsTheChannels) {
  Tensor image = Tensor::Wrap(Counting<uint8_t>(2 * 3 * 4), {2, 3, 4}).value();
  EXPECT_EQ(AsMat(image)->type(), CV_8UC4);
  EXPECT_EQ(AsMat(image)->dims, 2);
  EXPECT_EQ(AsMat(image)->at<cv::Vec4b>(1, 2), cv::Vec4b(20, 21, 22, 23));

  const cv::Mat whole = AsMat(image, ChannelDimension::kNone).value();
  EXPECT_EQ(whole.dims, 3);
  EXPECT_EQ(whole.type(), CV_8UC1);
  EXPECT_EQ(whole.at<uchar>(1, 2, 3), 23);
}

TEST(ChannelsTest, TheLastDimensionIsTheChannelsWhereThatIsAsked) {
  Tensor points = Tensor::Wrap(Counting<double>(6), {3, 2}).value();
  const cv::Mat mat = AsMat(points, ChannelDimension::kLast).value();
  EXPECT_EQ(mat.type(), CV_64FC2);
  EXPECT_EQ(mat.size(), cv::Size(1, 3));
  EXPECT_EQ(mat.at<cv::Point2d>(2), cv::Point2d(4, 5));
  EXPECT_EQ(mat.step[0], 16u);
  EXPECT_EQ(mat.step[1], 16u);
  EXPECT_TRUE(mat.isContinuous());

  const cv::Mat one = AsMat(points.Select(0, 1).value(), ChannelDimension::kLast).value();
  EXPECT_EQ(one.type(), CV_64FC2);
  EXPECT_EQ(one.size(), cv::Size(1, 1));
  EXPECT_EQ(one.at<cv::Point2d>(0), cv::Point2d(2, 3));
  EXPECT_EQ(one.step[0], 16u);
}

// OpenCV refuses steps that are smaller than a pixel.
TEST(ChannelsTest, TheDimensionsThatAMatHasMoreAreOfOnePixel) {
  const Tensor points = Tensor::Wrap(Counting<double>(6), {3, 2}).value();
  internal_opencv::MatLayout layout;
  ASSERT_TRUE(internal_opencv::FindLayout(points, ChannelDimension::kLast, &layout).ok());
  EXPECT_EQ(layout.dims, 2);
  EXPECT_EQ(layout.sizes[1], 1);
  EXPECT_EQ(layout.steps[0], 16u);
  EXPECT_EQ(layout.steps[1], 16u);
  const Tensor point = points.Select(0, 1).value();
  ASSERT_TRUE(internal_opencv::FindLayout(point, ChannelDimension::kLast, &layout).ok());
  EXPECT_EQ(layout.dims, 2);
  EXPECT_EQ(layout.sizes[0], 1);
  EXPECT_EQ(layout.steps[0], 16u);
  EXPECT_EQ(layout.steps[1], 16u);
}

TEST(ChannelsTest, TheStrideOfOneChannelDoesNotCount) {
  for (const int64_t stride : {int64_t{7}, int64_t{0}, int64_t{-3}}) {
    const absl::StatusOr<cv::Mat> mat = AsMat(Strided({2, 3, 1}, {3, 1, stride}));
    ASSERT_TRUE(mat.ok()) << mat.status();
    EXPECT_EQ(mat->type(), CV_32FC1);
    EXPECT_EQ(mat->at<float>(1, 2), 5);
  }
}

TEST(ChannelsTest, ThePlaceOfTheChannelsOfNoPixelDoesNotCount) {
  for (const int64_t stride : {int64_t{2}, int64_t{0}, int64_t{-1}}) {
    for (const int64_t rows : {0, 2}) {
      const absl::StatusOr<cv::Mat> mat = AsMat(Strided({rows, 2 - rows, 3}, {6, 3, stride}));
      ASSERT_TRUE(mat.ok()) << mat.status();
      EXPECT_TRUE(mat->empty());
      EXPECT_EQ(mat->type(), CV_32FC3);
    }
  }
}

TEST(ChannelsTest, ChannelsThatDoNotFollowEachOtherAreRefused) {
  for (const int64_t stride : {int64_t{2}, int64_t{0}}) {
    EXPECT_THAT(ErrorOf(AsMat(Strided({2, 2, 2}, {16, 4, stride})).status()),
                HasSubstr("not next to each other"));
  }
  const Tensor rgb = Tensor::Wrap(Counting<float>(12), {2, 2, 3}).value();
  const Tensor bgr = rgb.Slice(2, {.step = -1}).value();
  EXPECT_THAT(ErrorOf(AsMat(bgr).status()), HasSubstr("not next to each other"));
}

TEST(ChannelsTest, ThereIsAtLeastOneChannelAndAtMostWhatOpenCvHas) {
  const std::string error = ErrorOf(AsMat(New({2, 3, 0}, kUInt8)).status());
  EXPECT_THAT(error, HasSubstr("1 to " + std::to_string(CV_CN_MAX) + " channels"));
  EXPECT_TRUE(AsMat(New({2, 3, 0}, kUInt8), ChannelDimension::kNone)->empty());
  EXPECT_EQ(AsMat(New({1, 1, CV_CN_MAX}, kUInt8))->channels(), CV_CN_MAX);
}

TEST(ChannelsTest, PixelsWithGapsAreDimensionsButNoChannels) {
  Tensor rgba = Tensor::Wrap(Counting<uint8_t>(2 * 3 * 4), {2, 3, 4}).value();
  Tensor rgb = rgba.Slice(2, {.start = 0, .stop = 3}).value();
  EXPECT_THAT(ErrorOf(AsMat(rgb).status()), HasSubstr("Copied(tensor)"));
  const cv::Mat mat = AsMat(rgb, ChannelDimension::kNone).value();
  EXPECT_EQ(mat.dims, 3);
  EXPECT_FALSE(mat.isContinuous());
  EXPECT_EQ(mat.at<uchar>(1, 2, 0), 20);
  EXPECT_EQ(mat.data, static_cast<uchar*>(rgba.raw_data()));
}

}  // namespace
}  // namespace dovetail
