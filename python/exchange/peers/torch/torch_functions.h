// Functions of PyTorch's stable C interface, which PyTorch's libraries export.
//
//   const TorchFunctions& torch = FindTorchFunctions();
//   if (torch.is_complete) torch.get_storage_size(handle, &nbytes);
//
// Each returns 0 if it succeeded; else it has printed why. A handle is an AtenTensorHandle.
// Source: torch/csrc/inductor/aoti_torch/c/shim.h, PyTorch 2.13 and 2.14.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_FUNCTIONS_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_FUNCTIONS_H_

#include <cstdint>

namespace dovetail::python {

struct AtenTensor;  // opaque
using TorchHandle = AtenTensor*;

struct TorchFunctions {
  // Arrays and addresses are borrowed from the tensor. Sizes, strides and offsets count elements,
  // get_storage_size() bytes.
  int32_t (*get_dim)(TorchHandle, int64_t*);
  int32_t (*get_sizes)(TorchHandle, int64_t**);
  int32_t (*get_strides)(TorchHandle, int64_t**);
  int32_t (*get_dtype)(TorchHandle, int32_t*);
  int32_t (*get_data_ptr)(TorchHandle, void**);  // copies a lazy clone first
  int32_t (*get_storage_offset)(TorchHandle, int64_t*);
  int32_t (*get_storage_size)(TorchHandle, int64_t*);
  // A new tensor over the storage of the first. `more` is added to its offset.
  int32_t (*reinterpret_tensor)(TorchHandle, int64_t ndim, const int64_t* sizes,
                                const int64_t* strides, int64_t more, TorchHandle* made);
  int32_t (*delete_tensor_object)(TorchHandle);
  bool is_complete;  // no function is nullptr
};

// PyTorch must have been imported. Any thread.
const TorchFunctions& FindTorchFunctions();

// An exported function of `library`, such as "libc10.so"; nullptr if there is none or PyTorch was
// not imported. Any thread.
void* FindTorchSymbol(const char* library, const char* name);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_FUNCTIONS_H_
