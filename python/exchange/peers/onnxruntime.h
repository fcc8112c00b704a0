// Imports an onnxruntime.OrtValue. The memory is shared.
//
//   if (onnxruntime_ort_value.Is(Py_TYPE(x))) result = ImportOrtValue(x, &tensor);
//
// The tensor holds `x` itself. A capsule of ONNX Runtime holds only the C object, and not the NumPy
// array whose memory the value uses after ortvalue_from_numpy(). The tensor is read-only if that
// array is. Values on a GPU are ready: a session's run() waits for its stream.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_ONNXRUNTIME_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_ONNXRUNTIME_H_

#include <Python.h>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"

namespace dovetail::python {

// `x` is an exact OrtValue. kNotTaken if this version of ONNX Runtime has no DLPack. An
// ExchangeError for values that are no tensors (sequences, sparse tensors). Needs the GIL.
ExchangeResult ImportOrtValue(PyObject* x, Tensor* tensor);

DOVETAIL_NOT_SHARED inline PeerType onnxruntime_ort_value("onnxruntime", "OrtValue");

// A value may be a session's output, so that read-only memory would be written. (ONNX Runtime 1.32)
DOVETAIL_NOT_SHARED inline constexpr Peer kOnnxRuntimePeer = {
    .type = onnxruntime_ort_value,
    .way_in = "OrtValue",
    .import = &ImportOrtValue,
    .way_out = WayOut::kFunction,
    .function = {"dovetail._targets", "to_onnxruntime"},
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_ONNXRUNTIME_H_
