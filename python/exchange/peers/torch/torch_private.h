// What Dovetail reads of PyTorch that PyTorch does not publish: the rows of
// python/exchange/peers/private_reads.inc, which also has the published ways. Each is checked
// against PyTorch's own answers when it is first needed. Where it does not hold, the published way
// is taken, which is slower.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_

#include <Python.h>

#include <cstdint>
#include <cstring>

#include "dovetail/python/exchange/peers/torch/torch_functions.h"

namespace dovetail::python {

// c10::impl::TorchDispatchModeTLS::any_modes_set(bool skip_infra_modes), in libc10.so
inline constexpr char kAnyModesSet[] = "_ZN3c104impl20TorchDispatchModeTLS13any_modes_setEb";
// at::impl::torch_function_mode_enabled(), in libtorch_cpu.so
inline constexpr char kFunctionModeEnabled[] = "_ZN2at4impl27torch_function_mode_enabledEv";
// In bytes.
inline constexpr int kDispatchKeys = 168;

// Of an exact torch.Tensor. Valid only if TorchHandlesAreKnown(), as long as `x` lives.
inline TorchHandle TorchHandleOf(PyObject* x) { return reinterpret_cast<TorchHandle>(x + 1); }

// Whether TorchHandleOf() gives the handle. Only an interrupt leaves its error set; false then.
// Needs the GIL.
bool TorchHandlesAreKnown();

// The dispatch keys of an exact torch.Tensor. Compare them only: they mean nothing by themselves.
// Valid only if TorchHandlesAreKnown().
inline uint64_t TorchKeysOf(PyObject* x) {
  const char* impl;
  std::memcpy(static_cast<void*>(&impl), TorchHandleOf(x), sizeof(impl));
  uint64_t keys;
  std::memcpy(&keys, impl + kDispatchKeys, sizeof(keys));
  return keys;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_
