// Marks of PyTorch tensors whose memory does not hold their values: lazy conjugates and negations,
// and wrappers such as functional tensors.
//
//   if (!IsPlainTorch(x) && FindTorchMark(x) != TorchMark::kNone) ...
//
// For exact torch.Tensor objects, where nothing else is said. Only an interrupt leaves its error
// set. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MARKS_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MARKS_H_

#include <Python.h>

#include <cstdint>

namespace dovetail::python {

// Whether `x` is a dense tensor on the CPU without any mark, read without a call. False if that
// can't be told, and for tensors of inference mode.
bool IsPlainTorch(PyObject* x);

enum class TorchMark : uint8_t { kNone, kConjugate, kNegative };

// What x.is_conj() and x.is_neg() say, of a tensor that PyTorch's exchange API lent. kConjugate if
// that can't be told.
TorchMark FindTorchMark(PyObject* x);
// The same of a tensor of any class, which may answer for itself: nothing is remembered.
TorchMark AskTorchMark(PyObject* x);

// Whether the dispatch keys tell tensors with a mark from those without (torch_private.h).
bool TorchKeysAreKnown();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_MARKS_H_
