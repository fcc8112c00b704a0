// The TensorImpl of a PyTorch tensor object, and the result of checks of PyTorch's insides.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

namespace dovetail::python {

// The TensorImpl of an exact torch.Tensor: the pointer after the PyObject. Valid only if
// HasTorchImpl() is true for an object of the class.
inline void* TorchImplOf(PyObject* x) { return *reinterpret_cast<void**>(x + 1); }

// Whether `x` has the layout that TorchImplOf() assumes: compares it with PyTorch's `_cdata`. Only
// an interrupt leaves its error set.
bool HasTorchImpl(PyObject* x);

// Sets the error of `e` again if it is an interrupt (no Exception), and drops any other.
void RestoreInterrupt(nanobind::python_error& e);

// An assumption about PyTorch's insides (torch_abi.h), checked when it is first needed.
//
//   static constinit TorchAssumption assumption(&IsAsAssumed);
//   if (assumption.Holds()) ...
//
// Needs the GIL. The check may release it, so two threads may run the check.
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
