// tvm-ffi: a tensor is borrowed where its DLTensor lies. Everything else is by __dlpack__ and
// tvm_ffi.from_dlpack(). (tvm-ffi 0.1.15)

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_

#include <Python.h>

#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is an exact tvm_ffi.Tensor. By the class's DLPack exchange API, if it has one; else by the
// handle of its object, whose layout is tvm-ffi's C interface. kNotTaken for memory that is not the
// CPU's, which __dlpack__ orders. Holds nothing. Needs the GIL.
ExchangeResult BorrowTvmFfiTensor(PyObject* x, DovetailBorrowed* borrowed);

DOVETAIL_NOT_SHARED inline PeerType tvm_ffi_tensor("tvm_ffi", "Tensor");

DOVETAIL_NOT_SHARED inline constexpr Peer kTvmFfiPeer = {
    .type = tvm_ffi_tensor,
    .borrow = &BorrowTvmFfiTensor,
    .way_out = WayOut::kFunction,
    .accepts = {.negative_strides = true, .strides = true},
    .function = {"tvm_ffi", "from_dlpack"},
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_
