// SYCL's protocols in Python: __sycl_usm_array_interface__ in both directions, and dpctl.SyclQueue,
// the stream of oneAPI's devices, to and from the address of its sycl::queue.
//
//   Tensor tensor;
//   ExchangeResult result = ImportByUsmArrayInterface(x, &tensor);
//   PyObject* dict = ExportUsmArrayInterface(tensor);
//
//   std::optional<int64_t> address;
//   if (!FindQueueAddress(object, &address)) return nullptr;
//   if (address) …                                   // object is a queue
//
// Nothing is copied. An import keeps the object alive until the memory is no longer used, and makes
// the current stream wait for the queue that the dict names, if it names one. An export names the
// current stream's queue; the host has waited for the work on the memory, so any queue will do.
// After an export, whoever reads the address keeps the tensor alive. dpctl is not imported except
// by NewQueueObject(). Everything needs the GIL; false or nullptr is an error set. Source: dpctl's
// documentation, "SYCL USM array interface".

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_H_

#include <Python.h>

#include <cstdint>
#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

// The address of the queue, nullopt if `object` is none. A queue is an object with a method
// addressof_ref(), or a capsule "SyclQueueRef". `object` keeps the queue alive.
bool FindQueueAddress(PyObject* object, std::optional<int64_t>* address);

// The device of a queue object.
bool DeviceOfQueue(PyObject* queue, Device* device);

// A new dpctl.SyclQueue of `stream`, which is one of a oneAPI device. It keeps the queue alive.
PyObject* NewQueueObject(const Stream& stream);

// The same of the class of `producer.sycl_queue`. None if it has no such attribute.
PyObject* NewQueueObjectFor(PyObject* producer, int64_t address);

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared: without a SYCL runtime nothing tells the device of the memory.
ExchangeResult ImportByUsmArrayInterface(PyObject* x, Tensor* tensor);

// The dict of version 1. nullptr with an error set: AttributeError for a tensor that is not on a
// oneAPI device and for a type that has no type string, else ExchangeError.
PyObject* ExportUsmArrayInterface(const Tensor& tensor);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_H_
