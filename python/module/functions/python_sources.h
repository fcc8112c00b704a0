// MemorySource objects (core/memory_source.h) over what Python passes to set_allocator().
//
//   std::unique_ptr<MemorySource> source = MakePythonSource(allocate, deallocate);
//
// A source may be called on any thread, with the GIL or without. An allocation by Python code waits
// for the GIL. Memory goes back at once on a thread that holds it; elsewhere it waits for the next
// thread that does (python/exchange/base/owner.h), since a deleter must not. After the interpreter
// has ended, memory is leaked: neither the code nor a ctypes callback may run then.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_PYTHON_SOURCES_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_PYTHON_SOURCES_H_

#include <Python.h>

#include <cstdint>
#include <memory>

#include "dovetail/core/memory_source.h"

namespace dovetail::python {

// Of Python callables: allocate(nbytes, stream) returns an address, deallocate(address, nbytes,
// stream) takes it back; `stream` is a dovetail.Stream. An exception in `allocate` becomes the
// allocation's error (NoteCause of error.h), MemoryError one of ResourceExhausted; one in
// `deallocate` is unraisable. Needs the GIL.
std::unique_ptr<MemorySource> MakePythonSource(PyObject* allocate, PyObject* deallocate);

// Of two C functions at these addresses, with the signature of PyTorch's CUDAPluggableAllocator:
//   void* allocate(ssize_t nbytes, int device, void* stream)
//   void deallocate(void* data, ssize_t nbytes, int device, void* stream)
// They are called with the GIL or without. `owner` is kept alive. Needs the GIL.
std::unique_ptr<MemorySource> MakeCSource(uintptr_t allocate, uintptr_t deallocate,
                                          PyObject* owner);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_PYTHON_SOURCES_H_
