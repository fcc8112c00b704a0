// dovetail.Stream, Event, stream() and current_stream(): the order of work on GPUs.
//
//   s = dt.Stream("cuda:0")
//   with dt.stream(s):                      # this thread's work on cuda:0 goes to s
//       y = x.to("cuda:0")
//   e = s.record(); t.wait(e)
//
// Streams of other libraries are taken as they are: by __cuda_stream__(), .cuda_stream or .ptr, or
// a handle. An object is held as long as its stream is noted somewhere; a bare handle must outlive
// the `with`. Everything here needs the GIL; waits of the host let it go meanwhile.

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
// `device` may be null: where the object says, else device 0 of the vendor there is. False with an
// error set.
bool ParseStreamObject(PyObject* object, PyObject* device, std::optional<Stream>* stream);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_STREAMS_STREAMS_H_
