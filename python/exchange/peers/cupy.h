// CuPy: arrays go both ways by DLPack's Python protocol. CuPy itself tells its current stream.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_CUPY_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_CUPY_H_

#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

DOVETAIL_NOT_SHARED inline PeerType cupy_ndarray("cupy", "ndarray");

// CuPy's stream of the thread; its arrays are on the current device.
bool CupyStream(void** stream);

DOVETAIL_NOT_SHARED inline constexpr Peer kCupyPeer = {
    .type = cupy_ndarray,
    .way_out = WayOut::kFunction,
    .accepts = {.negative_strides = true, .strides = true},
    .function = {"cupy", "from_dlpack"},
    .current_stream = &CupyStream,
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_CUPY_H_
