// What Dovetail reads of PyTorch that PyTorch does not publish: the rows of
// python/exchange/peers/private_reads.inc, which also has the published ways. Each is checked
// against PyTorch's own answers, about tensors made for it, when it is first needed. Where it does
// not hold, the published way is taken, which is slower.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>

#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"

namespace dovetail::python {

// The value of a Python expression in which `torch` is PyTorch, which must have been imported;
// outside of inference mode, whose tensors differ. Invalid on an error; only an interrupt leaves it
// set. Takes microseconds. Needs the GIL.
nanobind::object EvaluateTorch(const char* expression);

// An assumption, checked when it is first needed. What a mode or a transform of PyTorch made fail
// is checked again, ever more rarely: after 1, 2, 4, ... calls.
//
//   static constinit TorchAssumption assumption(&IsAsAssumed);
//   if (assumption.Holds()) ...
//
// Needs the GIL. The check may release it, so two threads may run the check.
class TorchAssumption {
 public:
  explicit constexpr TorchAssumption(bool (*check)()) : check_(check) {}

  // False, with its error set and nothing remembered, if an interrupt stopped the check.
  bool Holds() { return holds_.load() || Check(); }

 private:
  bool Check() {
    const uint32_t asked = asked_.load() + 1;
    asked_.store(asked);
    if ((asked & (asked - 1)) != 0) return false;  // no power of 2
    const bool holds = check_();
    if (PyErr_Occurred() != nullptr) {
      asked_.store(asked - 1);
      return false;
    }
    holds_.store(holds);
    return holds;
  }

  bool (*check_)();
  GilGuarded<bool> holds_{false};
  GilGuarded<uint32_t> asked_{0};
};

// c10::impl::TorchDispatchModeTLS::any_modes_set(bool skip_infra_modes), in libc10.so
inline constexpr char kAnyModesSet[] = "_ZN3c104impl20TorchDispatchModeTLS13any_modes_setEb";
// at::impl::torch_function_mode_enabled(), in libtorch_cpu.so
inline constexpr char kFunctionModeEnabled[] = "_ZN2at4impl27torch_function_mode_enabledEv";
// c10::TensorImpl::requires_grad() const, in libc10.so
inline constexpr char kRequiresGrad[] = "_ZNK3c1010TensorImpl13requires_gradEv";
// torch::autograd::impl::bump_version(const at::Tensor&), in libtorch_cpu.so
inline constexpr char kBumpVersion[] = "_ZN5torch8autograd4impl12bump_versionERKN2at6TensorE";
// torch::jit::tracer::getTracingState(), in libtorch_cpu.so
inline constexpr char kTracingState[] = "_ZN5torch3jit6tracer15getTracingStateEv";
// In bytes.
inline constexpr int kDispatchKeys = 168;

// Of an exact torch.Tensor. Valid only if TorchHandlesAreKnown(), as long as `x` lives.
inline TorchHandle TorchHandleOf(PyObject* x) { return reinterpret_cast<TorchHandle>(x + 1); }

// Whether TorchHandleOf() gives the handle. Only an interrupt leaves its error set; false then.
// Needs the GIL.
bool TorchHandlesAreKnown();

// The TensorImpl of an exact torch.Tensor. Valid only if TorchHandlesAreKnown().
inline const char* TorchImplOf(PyObject* x) {
  const char* impl;
  std::memcpy(static_cast<void*>(&impl), TorchHandleOf(x), sizeof(impl));
  return impl;
}

// The dispatch keys of an exact torch.Tensor. Compare them only: they mean nothing by themselves.
// Valid only if TorchHandlesAreKnown().
inline uint64_t TorchKeysOf(PyObject* x) {
  uint64_t keys;
  std::memcpy(&keys, TorchImplOf(x) + kDispatchKeys, sizeof(keys));
  return keys;
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_PRIVATE_H_
