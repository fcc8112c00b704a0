#include "dovetail/interop/torch/stable.h"

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "dovetail/dovetail.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Counted(std::vector<int64_t> shape, std::vector<int64_t> strides, int* released) {
  auto memory = std::make_shared<std::vector<float>>(16);
  std::iota(memory->begin(), memory->end(), 0.0F);
  return Tensor::Wrap(memory->data(), shape, strides, Device::Cpu(),
                      [memory, released] { ++*released; })
      .value();
}

TEST(StableTorchTest, ATensorGoesOutAndKeepsTheMemory) {
  int released = 0;
  {
    Tensor x = Counted({2, 3}, {1, 4}, &released);
    void* const data = x.raw_data();
    const torch::stable::Tensor y = AsStableTorch(std::move(x)).value();
    x = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(y.data_ptr(), data);
    EXPECT_EQ(y.scalar_type(), torch::headeronly::ScalarType::Float);
    EXPECT_EQ(y.size(1), 3);
    EXPECT_EQ(y.stride(1), 4);
    EXPECT_TRUE(y.is_cpu());
  }
  EXPECT_EQ(released, 1);
}

TEST(StableTorchTest, ANegativeStrideThatNoElementIsReachedByDoesNotMatter) {
  int released = 0;
  const auto y = AsStableTorch(Counted({2, 1, 3}, {3, -5, 1}, &released));
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(y->stride(0), 3);
  EXPECT_GE(y->stride(1), 0);
}

TEST(StableTorchTest, ATensorComesInAndIsKept) {
  int released = 0;
  Tensor back;
  {
    const torch::stable::Tensor y = AsStableTorch(Counted({2, 3}, {3, 1}, &released)).value();
    back = FromStableTorch(torch::stable::transpose(y, 0, 1)).value();
    EXPECT_EQ(back.raw_data(), y.data_ptr());
  }
  EXPECT_EQ(released, 0);
  EXPECT_THAT(back.shape(), ElementsAre(3, 2));
  EXPECT_THAT(back.strides(), ElementsAre(1, 3));
  EXPECT_EQ(**back.at<float>({2, 1}), 5);
  back = Tensor();
  EXPECT_EQ(released, 1);
}

TEST(StableTorchTest, WhatCannotBeSharedIsRefused) {
  int released = 0;
  Tensor x = Counted({4}, {1}, &released);
  EXPECT_THAT(std::string(AsStableTorch(x.ReadOnly()).status().message()), HasSubstr("read-only"));
  EXPECT_TRUE(AsStableTorch(x.ReadOnly(), /*allow_read_only=*/true).ok());
  EXPECT_THAT(std::string(AsStableTorch(Tensor()).status().message()), HasSubstr("null"));
  EXPECT_THAT(std::string(FromStableTorch(torch::stable::Tensor()).status().message()),
              HasSubstr("undefined"));
}

TEST(StableTorchTest, LazyConjugatesAreRefused) {
  RegisterDefaultBackends();
  const torch::stable::Tensor y = AsStableTorch(Tensor::Empty({2}, kComplex64).value()).value();
  std::array<StableIValue, 1> stack{torch::stable::detail::from(y)};
  ASSERT_EQ(aoti_torch_call_dispatcher("aten::conj", "", stack.data()), AOTI_TORCH_SUCCESS);
  const auto conjugate = torch::stable::detail::to<torch::stable::Tensor>(stack[0]);
  EXPECT_THAT(std::string(FromStableTorch(conjugate).status().message()),
              HasSubstr("x.resolve_conj()"));
}

}  // namespace
}  // namespace dovetail
