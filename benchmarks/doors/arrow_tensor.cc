// The door to Arrow's C++ library beside what a program does without it. "by_hand" of a name is
// right above the door.
#include <cstdint>
#include <memory>
#include <vector>

#include "arrow/buffer.h"
#include "arrow/tensor.h"
#include "benchmark/benchmark.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow_tensor/export.h"
#include "dovetail/interop/arrow_tensor/import.h"

namespace dovetail {
namespace {

const std::vector<int64_t> kShape = {2, 3, 4};
const std::vector<int64_t> kByteStrides = {48, 16, 4};

// A buffer that holds a tensor.
class HoldingBuffer : public arrow::MutableBuffer {
 public:
  explicit HoldingBuffer(std::shared_ptr<std::vector<float>> owner)
      : arrow::MutableBuffer(reinterpret_cast<uint8_t*>(owner->data()), 96),
        owner_(std::move(owner)) {}

 private:
  std::shared_ptr<std::vector<float>> owner_;
};

void ExportByHand(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(24);
  for (auto _ : state) {
    auto made = std::make_shared<arrow::Tensor>(
        arrow::float32(), std::make_shared<HoldingBuffer>(owner), kShape, kByteStrides);
    benchmark::DoNotOptimize(made);
  }
}
BENCHMARK(ExportByHand)->Name("Arrow/as_arrow_tensor/by_hand");

void Export(benchmark::State& state) {
  const Tensor tensor = *Tensor::Wrap(std::vector<float>(24), kShape);
  for (auto _ : state) {
    auto made = *AsArrowTensor(tensor);
    benchmark::DoNotOptimize(made);
  }
}
BENCHMARK(Export)->Name("Arrow/as_arrow_tensor");

// What a program keeps of an arrow::Tensor: its owner, the pointer, the type, shape and strides.
struct Kept {
  std::shared_ptr<arrow::Tensor> owner;
  void* data;
  arrow::Type::type type;
  std::vector<int64_t> shape, strides;
};

std::shared_ptr<arrow::Tensor> Made() {
  return *AsArrowTensor(*Tensor::Wrap(std::vector<float>(24), kShape));
}

void ImportByHand(benchmark::State& state) {
  const std::shared_ptr<arrow::Tensor> x = Made();
  for (auto _ : state) {
    Kept kept = {x, x->raw_mutable_data(), x->type_id(), x->shape(), x->strides()};
    benchmark::DoNotOptimize(kept);
  }
}
BENCHMARK(ImportByHand)->Name("Arrow/from_arrow_tensor/by_hand");

void Import(benchmark::State& state) {
  const std::shared_ptr<arrow::Tensor> x = Made();
  for (auto _ : state) {
    Tensor tensor = *FromArrowTensor(x);
    benchmark::DoNotOptimize(tensor);
  }
}
BENCHMARK(Import)->Name("Arrow/from_arrow_tensor");

}  // namespace
}  // namespace dovetail
