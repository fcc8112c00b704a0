// Imports an eager tensor of TensorFlow. The memory is shared and read-only, since TensorFlow's
// tensors never change.
//
//   if (tensorflow_eager_tensor.Is(Py_TYPE(x))) result = ImportTensorFlowTensor(x, &tensor);
//
// By tensorflow.experimental.dlpack.to_dlpack(), which every version has and which waits for the
// value. It takes no stream.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is an exact EagerTensor. An ExchangeError for strings, resources and variants, for which
// TensorFlow would end the process. Needs the GIL.
ExchangeResult ImportTensorFlowTensor(PyObject* x, Tensor* tensor);

// The base class, whose name users know, and that of tensors with values.
DOVETAIL_NOT_SHARED inline PeerType tensorflow_tensor("tensorflow", "Tensor");
DOVETAIL_NOT_SHARED inline PeerType tensorflow_eager_tensor("tensorflow.python.framework.ops",
                                                            "EagerTensor");

DOVETAIL_NOT_SHARED inline constexpr Peer kTensorFlowEagerPeer = {
    .type = tensorflow_eager_tensor,
    .way_in = "tf.experimental.dlpack",
    .import = &ImportTensorFlowTensor,
};

// TensorFlow never writes, and its operations abort on misaligned memory. (TensorFlow 2.21)
DOVETAIL_NOT_SHARED inline constexpr Peer kTensorFlowPeer = {
    .type = tensorflow_tensor,
    .way_out = WayOut::kFunction,
    .accepts = {.read_only = ReadOnlyMemory::kCpu, .alignment = 64},
    .function = {"dovetail._targets", "to_tensorflow"},
    .objects = &tensorflow_eager_tensor,
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_TENSORFLOW_H_
