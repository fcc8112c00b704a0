// Where a PyTorch tensor object has its TensorImpl, and how assumptions about its insides are kept.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

namespace dovetail::python {

// The TensorImpl of an exact torch.Tensor of PyTorch 2.13: it comes after what all objects have.
// Only if HasTorchImpl() says so of its class.
inline void* TorchImplOf(PyObject* x) { return *reinterpret_cast<void**>(x + 1); }

// Whether `x` is laid out as TorchImplOf thinks, by PyTorch's own word on where the TensorImpl is.
// No error is left set.
bool HasTorchImpl(PyObject* x);

// Sets the error of `e` again if it is an interrupt (no Exception), and drops any other.
void RestoreInterrupt(nanobind::python_error& e);

// What is assumed of PyTorch's insides: checked when it is first needed, by asking PyTorch.
//
//   static constinit TorchAssumption assumption(&IsAsAssumed);
//   if (assumption.Holds()) ...
//
// Needs the GIL, which the check may let go for a while; then it may run twice.
class TorchAssumption {
 public:
  explicit constexpr TorchAssumption(bool (*check)()) : check_(check) {}

  // False, with its error set and nothing remembered, if an interrupt stopped the check.
  bool Holds() {
    if (known_ == Known::kNothing) {
      const bool holds = check_();
      if (PyErr_Occurred() != nullptr) return false;
      known_ = holds ? Known::kHolds : Known::kFails;
    }
    return known_ == Known::kHolds;
  }

 private:
  enum class Known : uint8_t { kNothing, kHolds, kFails };
  bool (*check_)();
  Known known_ = Known::kNothing;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_
