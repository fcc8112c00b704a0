// dovetail.Device: the Python class of devices.
//
//   AddDeviceClass(module);            // dt.Device("cuda:0"), dt.Device("cuda", 0)

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_DEVICE_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_DEVICE_CLASS_H_

#include <nanobind/nanobind.h>

#include "dovetail/core/device.h"

namespace dovetail::python {

void AddDeviceClass(nanobind::module_& module);

// dt.Device, "cuda:0", a DLPack pair (type, index), an object with __dlpack_device__ (a Paddle
// place), or one whose text is a device's (a torch.device). A tensor is no device, though it has
// __dlpack_device__. False with a TypeError or ValueError set.
bool ParseDevice(PyObject* value, Device* device);

// A new reference; nullptr with an error set.
PyObject* DeviceToPython(Device device);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_DEVICE_CLASS_H_
