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
inline constexpr int kStorageInTensorImpl = 16;        // bytes: a c10::Storage, a StorageImpl*
inline constexpr int kDispatchKeysInTensorImpl = 168;  // bytes: a word of 64 bits
inline constexpr int kResizableInStorageImpl = 57;     // bytes: a bool

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
