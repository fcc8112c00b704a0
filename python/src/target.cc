#include "dovetail/python/src/target.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace dovetail::python {
namespace {

// Seen with NumPy 2.4, PyTorch 2.13, Paddle 3.3, JAX 0.10, tvm-ffi 0.1.15 and PyArrow 26. PyTorch
// and Paddle would take read-only memory and write to it; PyTorch aborts on negative strides. JAX
// and Arrow never write, so that read-only memory is theirs to share (dovetail._targets). JAX may
// reuse the memory of an array that is donated; on the CPU it does not reuse memory that it shares.
// It copies by itself, without a word, what is not aligned.
constexpr ReadOnlyMemory kNone = ReadOnlyMemory::kNone, kCpu = ReadOnlyMemory::kCpu,
                         kAny = ReadOnlyMemory::kAny;
Target targets[] = {
    {numpy_ndarray, TargetDoor::kNumPy, kAny, true, true, 1, "dovetail._numpy", "to_numpy"},
    {torch_tensor, TargetDoor::kExchangeApi, kNone, false, true, 1, "torch", "from_dlpack"},
    {paddle_tensor, TargetDoor::kExchangeApi, kNone, false, true, 1, "paddle", "from_dlpack"},
    {jax_array, TargetDoor::kFunction, kCpu, false, false, 64, "dovetail._targets", "to_jax"},
    {tvm_ffi_tensor, TargetDoor::kFunction, kNone, true, true, 1, "tvm_ffi", "from_dlpack"},
    {pyarrow_array, TargetDoor::kFunction, kAny, false, false, 1, "dovetail._targets",
     "to_pyarrow"},
    {dovetail_tensor, TargetDoor::kOwn, kAny, true, true, 1, nullptr, nullptr},
};

}  // namespace

Target* FindTarget(PyTypeObject* type) {
  for (Target& target : targets) {
    if (target.type.Is(type)) return &target;
  }
  return nullptr;
}

const char* TargetNames() {
  static const std::string* const names = [] {
    auto* text = new std::string;
    for (const Target& t : targets) {
      absl::StrAppend(text, text->empty() ? "" : ", ", t.type.module(), ".", t.type.name());
    }
    return text;
  }();
  return names->c_str();
}

}  // namespace dovetail::python
