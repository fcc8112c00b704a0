// dovetail.backends(): who serves which devices, and why there are none.

#ifndef DOVETAIL_PYTHON_SRC_BACKENDS_H_
#define DOVETAIL_PYTHON_SRC_BACKENDS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

void AddBackends(nanobind::module_& module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_BACKENDS_H_
