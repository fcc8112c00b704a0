// The functions of PyTorch's stable C interface that operators are made with.
//
//   const TorchShims& torch = FindTorchShims();
//   if (torch.missing == nullptr) torch.library_def(library, schema);
//
// Each returns 0 if it succeeded. PyTorch has all of them since version 2.10, and those of
// optional values since 2.13. Source: torch/csrc/stable/c/shim.h and
// torch/csrc/inductor/aoti_torch/c/shim.h, PyTorch 2.13 and 2.14.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_SHIMS_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_SHIMS_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"

namespace dovetail::python {

struct TorchLibrary;  // opaque, as are the others
struct TorchList;
struct TorchString;

// A value of an operator's stack: a number in its lowest bytes, or a handle. A function that gets
// one owns it.
using TorchValue = uint64_t;
using TorchBoxedKernel = void (*)(TorchValue* stack, uint64_t num_arguments, uint64_t num_results);

struct TorchShims {
  // The DLPack type of a number of PyTorch's element types, and back. Bits 0, −1: there is none.
  DLDataType TypeOf(int32_t number) const {
    const auto index = static_cast<size_t>(number);
    return index < types.size() ? types[index] : DLDataType{};
  }
  int32_t NumberOf(DLDataType dtype) const;

  int32_t (*library_init_fragment)(const char* ns, const char* file, uint32_t line, TorchLibrary**);
  int32_t (*library_init_impl)(const char* ns, const char* key, const char* file, uint32_t line,
                               TorchLibrary**);
  int32_t (*library_def)(TorchLibrary*, const char* schema);
  int32_t (*library_impl)(TorchLibrary*, const char* name, TorchBoxedKernel, uint64_t version);
  int32_t (*get_device_type)(TorchHandle, int32_t*);
  int32_t (*get_device_index)(TorchHandle, int32_t*);
  int32_t (*clone)(TorchHandle, TorchHandle*);
  int32_t (*empty_strided)(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                           int32_t dtype, int32_t device_type, int32_t device_index, TorchHandle*);
  int32_t (*list_size)(TorchList*, size_t*);
  int32_t (*list_get_item)(TorchList*, size_t, TorchValue*);
  int32_t (*delete_list)(TorchList*);
  int32_t (*string_length)(TorchString*, size_t*);
  int32_t (*string_c_str)(TorchString*, const char**);
  int32_t (*delete_string)(TorchString*);
  int32_t (*delete_value)(TorchValue*);  // of an optional
  bool (*grad_mode_is_enabled)();
  void (*grad_mode_set_enabled)(bool);
  // of an optional
  int32_t (*get_current_cuda_stream)(int32_t device_index, void** stream);  // may be nullptr
  int32_t cpu = 0;                        // the number of the CPU among types of devices
  std::array<DLDataType, 64> types = {};  // by number
  const char* missing = nullptr;  // the name of a function that PyTorch lacks; nullptr: none
};

// PyTorch must have been imported. Any thread.
const TorchShims& FindTorchShims();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_SHIMS_H_
