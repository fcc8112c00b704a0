// Backends from other shared objects, and the allocators of devices: register_backend,
// allocators, set_allocator, allocator_stats, trim_memory.
//
//   dt.set_allocator("cuda:0", "caching(async)")
//   dt.allocator_stats("cuda:0")["allocated_bytes"]

#ifndef DOVETAIL_PYTHON_SRC_MEMORY_H_
#define DOVETAIL_PYTHON_SRC_MEMORY_H_

#include <nanobind/nanobind.h>

namespace dovetail::python {

void AddMemory(nanobind::module_& module);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_MEMORY_H_
