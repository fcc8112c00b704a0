// A shared library with a copy of Dovetail inside. Its interface in C passes DLPack's struct.

#include <cstdint>
#include <utility>

#include "dlpack/dlpack.h"
#include "dovetail/dovetail.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

// A new tensor of the numbers from 0 to count - 1. nullptr for an error.
EXPORTED DLManagedTensorVersioned* MakeTensor(int64_t count) {
  dovetail::RegisterDefaultBackends();
  absl::StatusOr<dovetail::Tensor> tensor = dovetail::Tensor::Empty({count}, dovetail::kFloat32);
  if (!tensor.ok()) return nullptr;
  auto elements = tensor->elements<float>();
  if (!elements.ok()) return nullptr;
  float next = 0;
  for (float& value : *elements) value = next++;
  absl::StatusOr<dovetail::UniqueDLPack> out = dovetail::ToDLPack(*tensor);
  return out.ok() ? out->release() : nullptr;
}

// The sum of the numbers. Takes ownership. -1 for an error.
EXPORTED float SumTensor(DLManagedTensorVersioned* managed) {
  absl::StatusOr<dovetail::Tensor> tensor = dovetail::FromDLPack(managed);
  if (!tensor.ok()) return -1;
  auto elements = tensor->elements<const float>();
  if (!elements.ok()) return -1;
  float sum = 0;
  for (const float value : *elements) sum += value;
  return sum;
}
