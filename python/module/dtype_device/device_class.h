// dovetail.Device: the Python class of devices.
//
//   AddDeviceClass(module);            // dt.Device("cuda:0"), dt.Device("cuda", 0)

#ifndef DOVETAIL_PYTHON_MODULE_DTYPE_DEVICE_DEVICE_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_DTYPE_DEVICE_DEVICE_CLASS_H_

#include <nanobind/nanobind.h>

#include "dovetail/core/device.h"

namespace dovetail::python {

void AddDeviceClass(nanobind::module_& module);

// dt.Device, "cuda:0", a DLPack pair (type, index), a torch.device or a Paddle place (by its text).
// False with an error set.
bool ParseDevice(PyObject* value, Device* device);

// A new reference; nullptr with an error set.
PyObject* DeviceToPython(Device device);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_DTYPE_DEVICE_DEVICE_CLASS_H_
