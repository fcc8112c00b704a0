// The functions behind dovetail/distributed.py: rows of addresses in arrays, and the runs of memory
// by which two layouts of one tensor correspond.

#ifndef DOVETAIL_PYTHON_MODULE_DESCRIPTORS_DESCRIPTORS_H_
#define DOVETAIL_PYTHON_MODULE_DESCRIPTORS_DESCRIPTORS_H_

#include <Python.h>

namespace dovetail::python {

// Adds _fill_rows, _pair_runs and _step_bits to the module. False with an error set. Needs the GIL.
bool AddDescriptorFunctions(PyObject* module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_DESCRIPTORS_DESCRIPTORS_H_
