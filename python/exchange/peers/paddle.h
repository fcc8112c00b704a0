// Imports Paddle tensors through Paddle's DLPack C exchange API.
//
//   if (paddle_tensor.Is(Py_TYPE(x))) result = ImportPaddleTensor(x, &tensor);
//
// Paddle gives a managed tensor, which keeps its memory alive. The result is kNotTaken, and the
// caller calls __dlpack__, for a tensor that requires gradients, is not dense or not in host
// memory. Source: dlpack.h 1.3, DLPackExchangeAPI.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_PADDLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_PADDLE_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is an exact paddle.Tensor. Needs the GIL.
ExchangeResult ImportPaddleTensor(PyObject* x, Tensor* tensor);

// The same for a call of an extension's function, on any device.
ExchangeResult BorrowPaddleTensor(PyObject* x, DovetailBorrowed* borrowed);

// Paddle would write to read-only memory. (Paddle 3.3)
DOVETAIL_NOT_SHARED inline constexpr Peer kPaddlePeer = {
    .type = paddle_tensor,
    .way_in = kByExchangeApi,
    .import = &ImportPaddleTensor,
    .borrow = &BorrowPaddleTensor,
    .way_out = WayOut::kExchangeApi,
    .accepts = {.strides = true},
    .direct_from = &numpy_ndarray,
    .function = {"paddle", "from_dlpack"},
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_PADDLE_H_
