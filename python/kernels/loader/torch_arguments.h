// The arguments of a PyTorch operator, from the stack of PyTorch's stable C interface.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_ARGUMENTS_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"
#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/torch_shims.h"

namespace dovetail::python {

class TorchArguments {
 public:
  // Owns the values of the stack from now on.
  TorchArguments(const LoadedKernel& loaded, const TorchValue* stack, bool is_functional);
  ~TorchArguments();
  TorchArguments(const TorchArguments&) = delete;
  TorchArguments& operator=(const TorchArguments&) = delete;

  // Checks all arguments, makes Outs and copies of InOuts for a functional operator. False with
  // what the plain call would raise. Takes the GIL for errors alone.
  bool Load(KernelFailure* failure);

  // Tells PyTorch that the caller's tensors are written. Throws what PyTorch throws.
  void CountWrites() const {
    for (TorchHandle handle : written_) CountTorchWrite(handle);
  }

  LoadedCall& call() { return call_; }

  // Puts the results of a functional operator on the stack.
  void Return(TorchValue* stack);

 private:
  bool LoadOne(size_t i, KernelFailure* failure);
  bool LoadValue(size_t i, TorchValue value, KernelFailure* failure);
  bool LoadTensor(size_t i, TorchHandle handle, const DovetailBorrowed** tensor,
                  KernelFailure* failure);
  bool LoadTensors(size_t i, TorchList* list, KernelFailure* failure);
  template <typename T>
  void LoadNumbers(TorchList* list, DovetailArgument* value);
  bool MakeOut(size_t i, KernelFailure* failure);
  // An optional value that is there, by the value within.
  TorchValue Unwrap(TorchValue value);
  TorchHandle Own(TorchHandle handle) {
    owned_.push_back(handle);
    return handle;
  }

  const TorchShims& torch_ = FindTorchShims();
  const TorchFunctions& functions_ = FindTorchFunctions();
  const TorchValue* stack_;
  const bool is_functional_;
  size_t next_ = 0;  // of the stack
  // (Most calls allocate nothing.)
  absl::InlinedVector<TorchHandle, 8> owned_;    // deleted at the end
  absl::InlinedVector<TorchHandle, 4> results_;  // new tensors
  absl::InlinedVector<TorchHandle, 4> written_;  // of those that are owned
  absl::InlinedVector<TorchString*, 2> strings_;
  int32_t device_type_ = -1, device_index_ = -1;  // of the first tensor, as PyTorch numbers them
  LoadedCall call_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_TORCH_ARGUMENTS_H_
