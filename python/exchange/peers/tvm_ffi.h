// tvm-ffi: tensors go both ways by the class's DLPack exchange API. (tvm-ffi 0.1.15)

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_

#include "dovetail/python/exchange/peers/peer.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"

namespace dovetail::python {

DOVETAIL_NOT_SHARED inline PeerType tvm_ffi_tensor("tvm_ffi", "Tensor");

DOVETAIL_NOT_SHARED inline constexpr Peer kTvmFfiPeer = {
    .type = tvm_ffi_tensor,
    .borrow = &BorrowByExchangeApiOf<tvm_ffi_tensor>,
    .way_out = WayOut::kFunction,
    .accepts = {.negative_strides = true, .strides = true},
    .function = {"tvm_ffi", "from_dlpack"},
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TVM_FFI_H_
