#include "dovetail/python/src/explain.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/dlpack_in.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The exception in flight, taken out of flight.
nb::object TakeError() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nb::steal(value);
}

nb::dict Describe(const ImportTrace& trace) {
  nb::dict result;
  result["door"] = trace.door != nullptr ? nb::object(nb::str(trace.door)) : nb::none();
  result["version"] = nb::none();
  result["flags"] = nb::none();
  if (trace.capsule.has_value()) {
    result["version"] = nb::make_tuple(trace.capsule->version.major, trace.capsule->version.minor);
    result["flags"] = nb::int_(trace.capsule->flags);
  }
  result["producer_copied"] = nb::bool_(trace.producer_copied);
  result["consumer_copied"] = nb::bool_(trace.consumer_copied);
  return result;
}

}  // namespace

PyObject* TraceImport(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  ImportTrace trace;
  ImportRequest request{.trace = &trace};
  if (nargs != 3) return Raise(PyExc_TypeError, "_trace_import() takes x, device and copy");
  if (!ParseOptionalBool(args[2], "copy", &request.copy) ||
      (IsGiven(args[1]) && !ParseDevice(args[1], &request.device.emplace()))) {
    return nullptr;
  }
  Tensor tensor;
  const bool taken = Import(args[0], request, &tensor);
  nb::object error = taken ? nb::none() : TakeError();
  nb::object object = taken ? nb::steal(WrapTensor(std::move(tensor))) : nb::none();
  if (!object.is_valid()) return nullptr;
  nb::dict result = Describe(trace);
  result["error"] = error;
  result["tensor"] = object;
  return result.release().ptr();
}

}  // namespace dovetail::python
