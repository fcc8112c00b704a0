#include "dovetail/python/exchange/base/accepted_memory.h"

namespace dovetail::python {

const char* FindMisfit(const AcceptedMemory& accepts, const Tensor& tensor) {
  if (!accepts.TakesAccess(tensor.access(), tensor.device().type)) {
    return "is read-only, which it would not respect";
  }
  if (tensor.num_elements() == 0) return nullptr;
  if (!accepts.TakesSigns(tensor.strides())) {
    return "has negative strides, which it has no way to say";
  }
  if (!accepts.strides && !tensor.is_contiguous()) {
    return "is not contiguous, which it asks for";
  }
  if (reinterpret_cast<uintptr_t>(tensor.raw_data()) % accepts.alignment != 0) {
    return "is not aligned in memory as it asks";
  }
  return nullptr;
}

}  // namespace dovetail::python
