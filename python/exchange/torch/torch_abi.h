// What Dovetail assumes of PyTorch's insides. Nothing else of the tree may assume more.
//
// All facts are those of PyTorch 2.13. Each is checked against the loaded PyTorch when it is first
// needed; where one does not hold, PyTorch's Python interface is used instead, which is slower.
// python/tests/exchange/torch_insides_test.py names the assumption that a new version breaks.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ABI_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ABI_H_

#include <Python.h>

#include <cstdint>

namespace dovetail::python {

// Layout of objects. A torch.Tensor has its TensorImpl* after the PyObject (torch_object.h).
// Offsets are in bytes.
inline constexpr int kStorageInTensorImpl = 16;        // a c10::Storage, a StorageImpl*
inline constexpr int kGradientInTensorImpl = 24;       // a pointer; null: no gradient is required
inline constexpr int kRankInTensorImpl = 56;           // a size_t
inline constexpr int kSizesInTensorImpl = 64;          // int64_t[2 * kInlineRank], or a pointer
inline constexpr int kOffsetInTensorImpl = 144;        // an int64_t, in elements
inline constexpr int kCountInTensorImpl = 152;         // an int64_t, of elements
inline constexpr int kTypeInTensorImpl = 160;          // a uint16_t, the number of a ScalarType
inline constexpr int kDispatchKeysInTensorImpl = 168;  // a word of 64 bits
inline constexpr int kDataInStorageImpl = 16;          // a pointer
inline constexpr int kResizableInStorageImpl = 57;     // a bool
inline constexpr int kWriteCheckInStorageImpl = 59;    // a bool: something is due before a write
// Sizes and then strides are inside a TensorImpl up to this rank, in an array elsewhere beyond.
inline constexpr int kInlineRank = 5;
inline constexpr int kMaxTorchRank = 64;
inline constexpr int kScalarTypes = 64;  // at least so many numbers of types are looked up

// Bits of the dispatch keys.
inline constexpr uint64_t kConjugateBit = uint64_t{1} << 31;
inline constexpr uint64_t kNegativeBit = uint64_t{1} << 32;

// Libraries and the functions that they export. A mangled name fixes the parameter types.
inline constexpr char kC10[] = "libc10.so";
inline constexpr char kTorchCpu[] = "libtorch_cpu.so";
// In kC10: bool c10::TensorImpl::requires_grad() const
inline constexpr char kRequiresGrad[] = "_ZNK3c1010TensorImpl13requires_gradEv";
// In kC10: bool c10::impl::TorchDispatchModeTLS::any_modes_set(bool skip_infra_modes)
inline constexpr char kAnyModesSet[] = "_ZN3c104impl20TorchDispatchModeTLS13any_modes_setEb";
// In kTorchCpu: bool at::impl::torch_function_mode_enabled()
inline constexpr char kFunctionModeEnabled[] = "_ZN2at4impl27torch_function_mode_enabledEv";
// In kTorchCpu, PyTorch's stable C interface: copy and drop a counted pointer, tensor or storage.
inline constexpr char kCopyHandle[] = "aoti_torch_new_tensor_handle";
inline constexpr char kDropHandle[] = "aoti_torch_delete_tensor_object";

// A new dict: for each assumption, in words, whether it holds for the loaded PyTorch. Imports
// PyTorch. nullptr with an error set. Needs the GIL.
PyObject* CheckTorchAssumptions();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ABI_H_
