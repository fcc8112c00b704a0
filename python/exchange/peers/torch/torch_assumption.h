// Checks of what is assumed of PyTorch, against what PyTorch says of tensors made for it.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_ASSUMPTION_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_ASSUMPTION_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/base/gil_guarded.h"

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_ASSUMPTION_H_
