// The TensorImpl of a PyTorch tensor object, and the result of checks of PyTorch's insides.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/support/gil_guarded.h"

namespace dovetail::python {

// The TensorImpl of an exact torch.Tensor: the pointer after the PyObject. Valid only if
// HasTorchImpl() is true for an object of the class.
inline void* TorchImplOf(PyObject* x) { return *reinterpret_cast<void**>(x + 1); }

// Whether `x` has the layout that TorchImplOf() assumes: compares it with PyTorch's `_cdata`. Only
// an interrupt leaves its error set.
bool HasTorchImpl(PyObject* x);

// The value of a Python expression in which `torch` is PyTorch, which must have been imported, and
// `x` is `argument`, if that is not nullptr. Invalid on an error; only an interrupt leaves it set.
// For checks that run once. Needs the GIL.
nanobind::object EvaluateTorch(const char* expression, PyObject* argument = nullptr);

// The same for an expression whose value is an int or a bool; −1 on an error.
int64_t EvaluateTorchInt(const char* expression, PyObject* argument = nullptr);

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
    Known known = known_.load();
    if (known == Known::kNothing) [[unlikely]] {
      const bool holds = check_();
      if (PyErr_Occurred() != nullptr) return false;
      known = holds ? Known::kHolds : Known::kFails;
      known_.store(known);
    }
    return known == Known::kHolds;
  }

 private:
  enum class Known : uint8_t { kNothing, kHolds, kFails };
  bool (*check_)();
  GilGuarded<Known> known_{Known::kNothing};
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_OBJECT_H_
