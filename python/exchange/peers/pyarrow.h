// PyArrow: arrays come in by Arrow's and DLPack's protocols, and never change. (PyArrow 26)

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_PYARROW_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_PYARROW_H_

#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

DOVETAIL_NOT_SHARED inline PeerType pyarrow_array("pyarrow", "Array");

DOVETAIL_NOT_SHARED inline constexpr Peer kPyArrowPeer = {
    .type = pyarrow_array,
    .way_out = WayOut::kFunction,
    .accepts = {.read_only = ReadOnlyMemory::kAny},
    .function = {"dovetail._targets", "to_pyarrow"},
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_PYARROW_H_
