// Imports PyTorch tensors through PyTorch's C interfaces.
//
//   if (torch_tensor.Is(Py_TYPE(x))) result = ImportTorchTensor(x, &tensor);
//
// Makes no capsule and calls no Python method, which costs about a tenth of x.__dlpack__(). PyTorch
// lends a DLTensor by its stable C functions (torch_memory.h) or its exchange API, which are used
// only where they answer as __dlpack__ would. The import holds the storage (torch_memory.h). On a
// GPU our current stream waits for PyTorch's, as with __dlpack__. The result is kNotTaken, and the
// caller calls __dlpack__, for a tensor that requires grad, is a lazy conjugate or is in memory of
// other kinds, and inside a mode. Source: dlpack.h 1.3, DLPackExchangeAPI.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_IN_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is an exact torch.Tensor.
ExchangeResult ImportTorchTensor(PyObject* x, Tensor* tensor);

// After `x.__dlpack__()`, of a torch.Tensor of any class, gave `*given`: a Parameter, or a tensor
// inside a mode. If that is the memory of `x`, the result holds the storage, as an import by
// ImportTorchTensor does. False with an ExchangeError set for a lazy negation, which comes with the
// wrong sign, and for memory beyond the storage.
bool FinishTorchExport(PyObject* x, Tensor* given);

// For a call of an extension's function, on any device: `x` is an exact torch.Tensor. Nothing is
// held: the memory is valid until the tensor is resized or is given other data. A tensor that
// requires gradients is lent while PyTorch records none, and refused (kError) while it does.
ExchangeResult BorrowTorchTensor(PyObject* x, DovetailBorrowed* borrowed);
// The same of an exact torch.Tensor or torch.nn.Parameter, on a thread that is in no mode.
ExchangeResult BorrowTorchOutsideModes(PyObject* x, DovetailBorrowed* borrowed);
// The same of an exact torch.nn.Parameter.
ExchangeResult BorrowTorchParameter(PyObject* x, DovetailBorrowed* borrowed);

// PyTorch would write to read-only memory, and aborts on negative strides. (PyTorch 2.13)
DOVETAIL_NOT_SHARED inline constexpr Peer kTorchPeer = {
    .type = torch_tensor,
    .way_in = kByExchangeApi,
    .import = &ImportTorchTensor,
    .borrow = &BorrowTorchTensor,
    .way_out = WayOut::kExchangeApi,
    .accepts = {.strides = true},
    .direct_from = &numpy_ndarray,
    .function = {"torch", "from_dlpack"},
};

// Weights are arguments of most kernels. A Parameter comes in as by __dlpack__ otherwise.
DOVETAIL_NOT_SHARED inline constexpr Peer kTorchParameterPeer = {
    .type = torch_parameter,
    .borrow = &BorrowTorchParameter,
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TORCH_TORCH_IN_H_
