// Borrows tensors through the DLPack C exchange API of their class. Any function of the API may be
// NULL, and what it gives is checked as an import is.
//
//   if (tvm_ffi_tensor.Is(Py_TYPE(x))) result = BorrowByExchangeApi(tvm_ffi_tensor, x, &borrowed);
//
// Source: dlpack.h 1.3, DLPackExchangeAPI.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_EXCHANGE_API_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_EXCHANGE_API_H_

#include <Python.h>

#include <string_view>

#include "dovetail/core/device.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"

namespace dovetail::python {

// `x` is an exact object of the class. Takes the DLTensor that the class lends. Where that refuses
// (it can't say that memory is read-only), takes a managed tensor and holds it. kNotTaken if the
// class has no API or refuses both; kError for a tensor that is not valid. Needs the GIL.
ExchangeResult BorrowByExchangeApi(const PeerType& type, PyObject* x, DovetailBorrowed* borrowed);

// The same of one class, as a row of the table of peers has it.
template <PeerType& kType>
ExchangeResult BorrowByExchangeApiOf(PyObject* x, DovetailBorrowed* borrowed) {
  return BorrowByExchangeApi(kType, x, borrowed);
}

// The managed tensor that the class gives for `x`, which is not checked. kNotTaken if the class has
// no API or refuses. Needs the GIL.
ExchangeResult ManagedByExchangeApi(const PeerType& type, PyObject* x, UniqueDLPack* managed);

// Sets an error if a function of the API failed without one. Needs the GIL.
void EnsureError(const PeerType& type, std::string_view function);

// The stream on which the library of the class works now: `*stream` is NULL for its default stream
// and on host memory. kNotTaken if the class has no API.
ExchangeResult StreamByExchangeApi(const PeerType& type, DLDevice device, void** stream);

// Dovetail's current stream: of this module or, where it has no backend for the device, of the
// package. NULL for the default stream, and where neither has one. Needs the GIL.
void* OurStream(DLDevice device);

// Lets our current stream on `device` wait for the work of the class's library so far, as the
// library's __dlpack__(stream=...) would. kNotTaken if the class does not say its stream or no
// backend serves the device; kError with the error set if that fails. Needs the GIL.
ExchangeResult OrderAfterLibrary(const PeerType& type, Device device);
// The other way: the library's current stream waits for the pending work on `tensor`, and the
// memory is not used again before the library's work is done. Does nothing on host memory. kError
// with the error set if the class does not say its stream.
ExchangeResult OrderBeforeLibrary(const PeerType& type, const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_EXCHANGE_API_H_
