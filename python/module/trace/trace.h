// What dovetail.trace() and dovetail.no_copies() are made of. All need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_TRACE_TRACE_H_
#define DOVETAIL_PYTHON_MODULE_TRACE_TRACE_H_

#include <Python.h>

namespace dovetail::python {

// In recorder.cc. Recorders of traces: what dovetail.trace() keeps its events in.
//
//   recorder = _core._trace_start(limit)        # a capsule; hears the whole process from now on
//   _core._trace_events(recorder)               # (list of tuples, number of events not kept)
//   _core._trace_stop(recorder)                 # hears nothing more; the events stay
//
// An event is recorded without a Python object, by any thread, with or without the GIL; it becomes
// one when it is asked for. The fields of a tuple are those of dovetail._trace.Event, in that
// order.

PyObject* TraceStartFunction(PyObject* module, PyObject* limit);
PyObject* TraceEventsFunction(PyObject* module, PyObject* recorder);
PyObject* TraceStopFunction(PyObject* module, PyObject* recorder);

// In no_copies_object.cc. What dovetail.no_copies() enters and leaves: a NoCopiesScope of the
// calling thread.

// A capsule that is the scope. Leaving it twice, or on another thread, is a RuntimeError.
PyObject* NoCopiesEnterFunction(PyObject* module, PyObject* unused);
PyObject* NoCopiesLeaveFunction(PyObject* module, PyObject* scope);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TRACE_TRACE_H_
