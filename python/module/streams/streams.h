// dovetail.Stream, Event, stream() and current_stream(): the order of work on GPUs.
//
//   s = dt.Stream("cuda:0")
//   with dt.stream(s):                      # this thread's work on cuda:0 goes to s
//       y = x.to("cuda:0")
//   e = s.record(); t.wait(e)
//
// Streams of other libraries are accepted by __cuda_stream__(), .cuda_stream or .ptr, or as a
// handle. An object is kept alive as long as its stream is recorded somewhere. A bare handle must
// outlive the `with`. All functions need the GIL; waits of the host release it.

#ifndef DOVETAIL_PYTHON_MODULE_STREAMS_STREAMS_H_
#define DOVETAIL_PYTHON_MODULE_STREAMS_STREAMS_H_

#include <nanobind/nanobind.h>

#include <optional>

#include "dovetail/core/stream.h"

namespace dovetail::python {

// The classes.
void AddStreams(nanobind::module_& module);

// stream(stream, device=None) and current_stream(device=None), of the module's method table.
PyObject* StreamFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);
PyObject* CurrentStreamFunction(PyObject* module, PyObject* const* args, Py_ssize_t nargs,
                                PyObject* kwnames);

// The stream that `object` stands for: a dovetail.Stream, a handle, or another library's stream.
// `device` may be nullptr: the device that the object names, else device 0 of the first vendor with
// a GPU. False with an error set.
bool ParseStreamObject(PyObject* object, PyObject* device, std::optional<Stream>* stream);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_STREAMS_STREAMS_H_
