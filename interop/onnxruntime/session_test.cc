// Real sessions whose inputs and outputs are tensors.
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/export.h"
#include "dovetail/interop/onnxruntime/import.h"
#include "dovetail/interop/onnxruntime/testing/double_model.h"
#include "gtest/gtest.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
namespace {

constexpr const char* kIn[] = {"x"};
constexpr const char* kOut[] = {"y"};

class Sessions : public testing::Test {
 protected:
  static Ort::Env& Env() {
    static auto* const env = new Ort::Env(ORT_LOGGING_LEVEL_WARNING, "test");
    return *env;
  }
  static Ort::Session Open() {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(1);
    return Ort::Session(Env(), kDoubleModel.data(), kDoubleModel.size(), options);
  }
};

// Counts its release.
Tensor Counted(float* data, int* released, absl::Span<const int64_t> shape) {
  return *Tensor::Wrap(data, shape, {shape[1], 1}, Device::Cpu(), [released] { ++*released; });
}

TEST_F(Sessions, ATensorGoesInAndTheOutputComesBackInPlace) {
  Ort::Session session = Open();
  const Tensor x = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  Ort::Value in = *AsOrtValue(x);
  ASSERT_EQ(in.GetTensorMutableData<float>(), x.raw_data());
  std::vector<Ort::Value> out = session.Run(Ort::RunOptions{nullptr}, kIn, &in, 1, kOut, 1);
  const void* address = out[0].GetTensorRawData();
  const Tensor y = *FromOrtValue(std::move(out[0]));
  EXPECT_EQ(y.raw_data(), address);
  EXPECT_EQ(y.dtype(), kFloat32);
  EXPECT_EQ(y.shape(), absl::MakeConstSpan({int64_t{2}, int64_t{3}}));
  EXPECT_EQ(*y.span<float>(), absl::MakeConstSpan({2.f, 4.f, 6.f, 8.f, 10.f, 12.f}));
}

TEST_F(Sessions, ReadOnlyMemoryIsAnInputAndAPreallocatedTensorIsTheOutput) {
  Ort::Session session = Open();
  const std::vector<float> values = {1, 2, 3, 4};
  const Tensor x = *Tensor::Wrap(values.data(), {2, 2}, {2, 1}, Device::Cpu(), [] {});
  const Tensor y = *Tensor::Wrap(std::vector<float>(4), {2, 2});
  const Ort::Value in = *AsOrtInput(x);
  Ort::Value out = *AsOrtValue(y);
  session.Run(Ort::RunOptions{nullptr}, kIn, &in, 1, kOut, &out, 1);
  EXPECT_EQ(out.GetTensorRawData(), y.raw_data());
  EXPECT_EQ(*y.span<float>(), absl::MakeConstSpan({2.f, 4.f, 6.f, 8.f}));
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(Sessions, IoBindingReadsAndWritesTensors) {
  Ort::Session session = Open();
  const Tensor x = *Tensor::Wrap(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const Tensor y = *Tensor::Wrap(std::vector<float>(4), {2, 2});
  Ort::IoBinding binding(session);
  binding.BindInput("x", *AsOrtInput(x));  // the binding holds on to the memory
  binding.BindOutput("y", *AsOrtValue(y));
  session.Run(Ort::RunOptions{nullptr}, binding);
  EXPECT_EQ(*y.span<float>(), absl::MakeConstSpan({2.f, 4.f, 6.f, 8.f}));
  const std::vector<Ort::Value> outputs = binding.GetOutputValues();
  EXPECT_EQ(ViewOf(outputs[0])->raw_data(), y.raw_data());
}

TEST_F(Sessions, ABindingKeepsTheMemoryUntilItIsCleared) {
  Ort::Session session = Open();
  float data[] = {1, 2};
  int released = 0;
  Ort::IoBinding binding(session);
  binding.BindInput("x", *AsOrtValue(Counted(data, &released, {1, 2})));
  EXPECT_EQ(released, 0);
  binding.ClearBoundInputs();
  EXPECT_EQ(released, 1);
}

TEST_F(Sessions, AnOutputOutlivesItsSession) {
  std::optional<Tensor> y;
  {
    Ort::Session session = Open();
    const Tensor x = *Tensor::Wrap(std::vector<float>{1, 2}, {1, 2});
    const Ort::Value in = *AsOrtInput(x);
    y = *FromOrtValue(std::move(session.Run(Ort::RunOptions{nullptr}, kIn, &in, 1, kOut, 1)[0]));
  }
  EXPECT_EQ(*y->span<float>(), absl::MakeConstSpan({2.f, 4.f}));
  std::thread([&] { y.reset(); }).join();
}

TEST_F(Sessions, TheOutputOfOneSessionIsTheInputOfTheNext) {
  Ort::Session session = Open();
  Tensor x = *Tensor::Wrap(std::vector<float>{1, 2}, {1, 2});
  for (int i = 0; i < 3; ++i) {
    const Ort::Value in = *AsOrtInput(x);
    x = *FromOrtValue(std::move(session.Run(Ort::RunOptions{nullptr}, kIn, &in, 1, kOut, 1)[0]));
  }
  EXPECT_EQ(*x.span<float>(), absl::MakeConstSpan({8.f, 16.f}));
}

TEST_F(Sessions, AnEmptyBatchGoesThere) {
  Ort::Session session = Open();
  const Ort::Value in = *AsOrtInput(*Tensor::Wrap(std::vector<float>(), {0, 3}));
  const Tensor y =
      *FromOrtValue(std::move(session.Run(Ort::RunOptions{nullptr}, kIn, &in, 1, kOut, 1)[0]));
  EXPECT_EQ(y.shape(), absl::MakeConstSpan({int64_t{0}, int64_t{3}}));
}

}  // namespace
}  // namespace dovetail
