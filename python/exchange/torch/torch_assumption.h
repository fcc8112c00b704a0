// Checks of what is assumed of PyTorch, against what PyTorch says of tensors made for it.

#ifndef DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ASSUMPTION_H_
#define DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ASSUMPTION_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/support/gil_guarded.h"

namespace dovetail::python {

// The value of a Python expression in which `torch` is PyTorch, which must have been imported;
// outside of inference mode, whose tensors differ. Invalid on an error; only an interrupt leaves it
// set. Takes microseconds. Needs the GIL.
nanobind::object EvaluateTorch(const char* expression);

// An assumption, checked when it is first needed.
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

#endif  // DOVETAIL_PYTHON_EXCHANGE_TORCH_TORCH_ASSUMPTION_H_
