// dovetail.set_num_threads() and get_num_threads(): how many threads a large copy uses.

#ifndef DOVETAIL_PYTHON_SRC_THREADS_H_
#define DOVETAIL_PYTHON_SRC_THREADS_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

void AddThreads(nanobind::module_& module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_THREADS_H_
