// DLPack's methods of objects that stand for an element type or a device.
//
//   if (IsDLPackType(x)) return AskDataType(x, &dtype);       // x.__dlpack_data_type__()
//   if (IsDLPackDevice(x)) return AskDeviceObject(x, &device);  // x.__dlpack_device__()
//
// The methods are looked up on the class, as Python does with special methods: a class that defines
// __dlpack_data_type__ is no type itself. An object with __dlpack__ is a tensor, not a device or a
// type, although every tensor has __dlpack_device__.
//
// The Ask and Read functions return false with an error set:
//   TypeError      the answer is not a tuple of integers of the right length
//   ValueError     the numbers are not DLPack's, or name a type that Dovetail does not know
//   ExchangeError  the method raised; its exception is the cause. What is no Exception, such as
//                  KeyboardInterrupt, and MemoryError come through unchanged.
// All functions need the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_TYPE_AND_DEVICE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_TYPE_AND_DEVICE_H_

#include <Python.h>

#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"

namespace dovetail::python {

// Whether the class of `x` has __dlpack__. The Is functions run no Python code. No exception may be
// set, since looking up a name that CPython has not cached clears it.
bool IsDLPackTensor(PyObject* x);
// Whether the class of `x` has __dlpack_data_type__ and `x` is no tensor.
bool IsDLPackType(PyObject* x);
// Whether the class of `x` has __dlpack_device__ and `x` is no tensor.
bool IsDLPackDevice(PyObject* x);

// Fills `dtype` from x.__dlpack_data_type__(): a tuple (code, bits, lanes).
bool AskDataType(PyObject* x, DType* dtype);
// Fills `device` from x.__dlpack_device__(): a tuple (type, index). For devices; a tensor's answer
// is read by the import.
bool AskDeviceObject(PyObject* x, Device* device);

// Fills `device` from what a __dlpack_device__() answered.
bool ReadDeviceAnswer(PyObject* answer, Device* device);
// Fills `device` from a tuple of two: (type, index). An index of None is 0, as Paddle says of a
// device that exists once.
bool ReadDevicePair(PyObject* pair, Device* device);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_TYPE_AND_DEVICE_H_
