// The class behind dovetail.Reshard: the plan of core/reshard.

#ifndef DOVETAIL_PYTHON_MODULE_RESHARD_PLAN_CLASS_H_
#define DOVETAIL_PYTHON_MODULE_RESHARD_PLAN_CLASS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

// Adds _ReshardPlan to the module. Throws nanobind::python_error. Needs the GIL.
void AddReshardPlan(nanobind::module_& m);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_RESHARD_PLAN_CLASS_H_
