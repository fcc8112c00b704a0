// dovetail.Device: the Python class of devices.
//
//   AddDeviceClass(module);            // dt.Device("cuda:0"), dt.Device("cuda", 0)

#ifndef DOVETAIL_PYTHON_SRC_DEVICE_CLASS_H_
#define DOVETAIL_PYTHON_SRC_DEVICE_CLASS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

void AddDeviceClass(nanobind::module_& module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_DEVICE_CLASS_H_
