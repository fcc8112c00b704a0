// The door to ONNX Runtime beside what a program does without it. "by_hand" of a name is right
// above the door.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/export.h"
#include "dovetail/interop/onnxruntime/import.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
namespace {

constexpr int64_t kShape[] = {2, 3, 4};
constexpr size_t kElements = 24;

const OrtMemoryInfo* Memory() {
  static const auto* const info =
      new Ort::MemoryInfo(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault));
  return *info;
}

Ort::Value Borrowed(const std::shared_ptr<std::vector<float>>& owner) {
  return Ort::Value::CreateTensor<float>(Memory(), owner->data(), kElements, kShape, 3);
}

Tensor SomeTensor() { return *Tensor::Wrap(std::vector<float>(kElements), kShape); }

// The value does not own the memory: the program keeps a shared_ptr beside it.
void ExportByHand(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  for (auto _ : state) {
    std::pair<Ort::Value, std::shared_ptr<std::vector<float>>> kept(Borrowed(owner), owner);
    benchmark::DoNotOptimize(kept);
  }
}
BENCHMARK(ExportByHand)->Name("OnnxRuntime/as_ort_value/by_hand_beside_its_owner");

// An allocator that owns the memory, as the door's.
struct OwningAllocator : OrtAllocator {
  std::shared_ptr<std::vector<float>> owner;
};

void ExportOwningByHand(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  for (auto _ : state) {
    auto* allocator = new OwningAllocator;
    static_cast<OrtAllocator&>(*allocator) = {
        .version = ORT_API_VERSION,
        .Alloc = [](OrtAllocator* self, size_t) -> void* {
          return static_cast<OwningAllocator*>(self)->owner->data();
        },
        .Free = [](OrtAllocator* self, void*) { delete static_cast<OwningAllocator*>(self); },
        .Info = [](const OrtAllocator*) { return Memory(); }};
    allocator->owner = owner;
    Ort::Value value = Ort::Value::CreateTensor<float>(allocator, kShape, 3);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(ExportOwningByHand)->Name("OnnxRuntime/as_ort_value/by_hand");

void Export(benchmark::State& state) {
  const Tensor tensor = SomeTensor();
  for (auto _ : state) {
    Ort::Value value = *AsOrtValue(tensor);
    benchmark::DoNotOptimize(value);
  }
}
BENCHMARK(Export)->Name("OnnxRuntime/as_ort_value");

// Pointer, element type, shape and device of a value.
struct Facts {
  void* data;
  ONNXTensorElementDataType type;
  std::vector<int64_t> shape;
  OrtMemoryInfoDeviceType device;
};

Facts FactsOf(Ort::Value& value) {
  const Ort::TensorTypeAndShapeInfo info = value.GetTensorTypeAndShapeInfo();
  return {value.GetTensorMutableRawData(), info.GetElementType(), info.GetShape(),
          value.GetTensorMemoryInfo().GetDeviceType()};
}

void ViewByHand(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  Ort::Value value = Borrowed(owner);
  for (auto _ : state) {
    Facts facts = FactsOf(value);
    benchmark::DoNotOptimize(facts);
  }
}
BENCHMARK(ViewByHand)->Name("OnnxRuntime/view_of/by_hand");

void View(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  Ort::Value value = Borrowed(owner);
  for (auto _ : state) {
    Tensor tensor = *ViewOf(value);
    benchmark::DoNotOptimize(tensor);
  }
}
BENCHMARK(View)->Name("OnnxRuntime/view_of");

// These two also make the value, since importing takes it.
void ImportByHand(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  for (auto _ : state) {
    auto kept = std::make_shared<Ort::Value>(Borrowed(owner));
    Facts facts = FactsOf(*kept);
    benchmark::DoNotOptimize(facts);
  }
}
BENCHMARK(ImportByHand)->Name("OnnxRuntime/from_ort_value/by_hand");

void Import(benchmark::State& state) {
  const auto owner = std::make_shared<std::vector<float>>(kElements);
  for (auto _ : state) {
    Tensor tensor = *FromOrtValue(Borrowed(owner));
    benchmark::DoNotOptimize(tensor);
  }
}
BENCHMARK(Import)->Name("OnnxRuntime/from_ort_value");

}  // namespace
}  // namespace dovetail
