// cuda.core: a StridedMemoryView is NVIDIA's view of any library's memory, read-only or not. Views
// go both ways by the class's DLPack exchange API. (cuda.core 1.2)

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_CUDA_CORE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_CUDA_CORE_H_

#include "dovetail/python/exchange/peers/peer.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"

namespace dovetail::python {

DOVETAIL_NOT_SHARED inline PeerType cuda_core_view("cuda.core.utils", "StridedMemoryView");

DOVETAIL_NOT_SHARED inline constexpr Peer kCudaCorePeer = {
    .type = cuda_core_view,
    .borrow = &BorrowByExchangeApiOf<cuda_core_view>,
    .way_out = WayOut::kExchangeApi,
    .accepts = kEveryMemory,
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_CUDA_CORE_H_
