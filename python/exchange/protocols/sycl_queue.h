// dpctl.SyclQueue, the stream of oneAPI's devices in Python, to and from the address of its
// sycl::queue.
//
//   std::optional<int64_t> address;
//   if (!FindQueueAddress(object, &address)) return nullptr;
//   if (address) …                                   // object is a queue
//
// dpctl is not imported except by NewQueueObject(). Everything needs the GIL; false or nullptr is
// an error set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_QUEUE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_QUEUE_H_

#include <Python.h>

#include <cstdint>
#include <optional>

#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_SYCL_QUEUE_H_
