#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/private_reads.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/convert.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// `tensor` may be null.
nb::dict Describe(const ImportTrace& trace, nb::object error, Tensor tensor) {
  nb::dict result;
  result["door"] = trace.way != nullptr ? nb::object(nb::str(trace.way)) : nb::none();
  result["version"] = nb::none();
  result["flags"] = nb::none();
  if (trace.capsule.has_value()) {
    result["version"] = nb::make_tuple(trace.capsule->version.major, trace.capsule->version.minor);
    result["flags"] = nb::int_(trace.capsule->flags);
  }
  result["producer_copied"] = nb::bool_(trace.producer_copied);
  result["consumer_copied"] = nb::bool_(trace.consumer_copied);
  result["error"] = std::move(error);
  result["tensor"] = nb::none();
  if (!tensor.is_null()) {
    nb::object object = nb::steal(WrapTensor(std::move(tensor)));
    if (!object.is_valid()) throw nb::python_error();
    result["tensor"] = std::move(object);
  }
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
  const bool taken = ImportTensor(args[0], request, &tensor);
  if (!taken && !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;  // an interrupt
  nb::object error = taken ? nb::none() : nb::steal(TakeError());
  return Describe(trace, std::move(error), std::move(tensor)).release().ptr();
}

PyObject* TraceConvert(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 3) return Raise(PyExc_TypeError, "_trace_convert() takes x, target and copy");
  std::optional<bool> copy;
  if (!ParseOptionalBool(args[2], "copy", &copy)) return nullptr;
  ConvertTrace trace;
  nb::object made = nb::steal(ConvertTraced(args[0], args[1], copy, &trace));
  if (!made.is_valid() && !PyErr_ExceptionMatches(PyExc_Exception)) return nullptr;
  nb::object error = made.is_valid() ? nb::none() : nb::steal(TakeError());
  trace.import.consumer_copied = copy.value_or(false) || trace.misfit != nullptr;
  nb::dict result = Describe(trace.import, std::move(error), std::move(trace.tensor));
  result["target_copied"] = nb::bool_(trace.target_copied);
  result["misfit"] = trace.misfit != nullptr ? nb::object(nb::str(trace.misfit)) : nb::none();
  return result.release().ptr();
}

PyObject* PrivateReadsFunction(PyObject*, PyObject*) { return PrivateReads(); }

PyObject* CheckPrivateReadsFunction(PyObject*, PyObject*) { return CheckPrivateReads(); }

}  // namespace dovetail::python
