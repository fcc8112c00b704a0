// What decides about an exchange beside a PyTorch tensor's memory: modes of the thread, gradients,
// and marks of tensors whose memory does not hold their values (lazy conjugates and negations, and
// wrappers such as functional tensors).
//
//   if (TorchModeIsActive()) ...                     // then call __dlpack__
//   if (TorchRequiresGrad(x)) ...                    // then only __dlpack__ may be asked (rule 55)
//   if (!IsPlainTorch(x) && FindTorchMark(x) != TorchMark::kNone) ...
//
// For exact torch.Tensor objects, where nothing else is said. Only an interrupt leaves its error
// set. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STATE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STATE_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/dtype.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"

namespace dovetail::python {

// Whether this thread is inside FakeTensorMode, or any other dispatch or function mode. A mode sees
// the operations of __dlpack__ and may refuse them; the C exchange API calls no mode. Also true if
// the answer is unknown. PyTorch must have been imported.
bool TorchModeIsActive();

// Whether this thread records a torch.jit.trace(). PyTorch must have been imported.
bool TorchIsTracing();

// Whether a tensor of that kind of number may require gradients.
inline bool MayRequireGrad(TypeKind kind) {
  return kind != TypeKind::kInt && kind != TypeKind::kUInt && kind != TypeKind::kBool &&
         kind != TypeKind::kHandle;
}

// Also true if the answer is unknown.
bool TorchRequiresGrad(PyObject* x);
// Whether it is asked of the tensor itself (torch_private.h). Otherwise of the getter of the class,
// which takes 20 ns where the attribute takes 28.
bool TorchRequiresGradIsKnown();

// Counts a write to the memory of `x`, as PyTorch's operations in place do, so that gradients which
// need the old values are refused. `x` is an exact torch.Tensor or Parameter. False with PyTorch's
// error set: for a tensor of inference mode outside of it. Outside of modes.
bool CountTorchWrite(PyObject* x);
// The same of a handle, on any thread. Throws what PyTorch throws. Does nothing if PyTorch has no
// such function.
void CountTorchWrite(TorchHandle handle);
// Whether writes are counted by PyTorch's own function (torch_private.h).
bool TorchWritesAreKnown();

// Whether this thread records operations for gradients: false under torch.no_grad() and
// torch.inference_mode(). Also true if the answer is unknown. PyTorch must have been imported.
bool TorchGradientsAreOn();

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

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_STATE_H_
