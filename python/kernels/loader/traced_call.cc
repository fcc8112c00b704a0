#include "dovetail/python/kernels/loader/traced_call.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/jax.h"
#include "dovetail/python/exchange/routes/make_borrowed.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/fit/result_sizes.h"
#include "dovetail/python/kernels/kernel_facts.h"
#include "dovetail/python/kernels/loader/bind_arguments.h"
#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/xla_arguments.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

using internal_kernels::Has;
using internal_kernels::IsTensor;

// An address for tensors without memory, aligned to all that kernels want.
constexpr uintptr_t kNowhere = uintptr_t{1} << 32;

// The device on which the parameter's tensors have to be. XLA tells the real one later.
DLDevice DeviceFor(const DovetailRequirements& wanted) {
  const bool is_any =
      wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == DOVETAIL_ANY_DEVICE;
  return {is_any ? kDLCPU : static_cast<DLDeviceType>(wanted.device_type), 0};
}

// `pair` is a type's name and a shape. False with an error set.
bool TraceTensor(size_t i, PyObject* pair, LoadedCall* call, const DovetailBorrowed** tensor) {
  const auto described = nb::borrow<nb::tuple>(pair);
  const auto shape = nb::cast<nb::tuple>(described[1]);
  int64_t sizes[DOVETAIL_MAX_NDIM];
  DLTensor lent = {reinterpret_cast<void*>(kNowhere),
                   DeviceFor(*call->loaded().named[i]->wanted),
                   static_cast<int32_t>(nb::len(shape)),
                   {},
                   sizes,
                   nullptr,
                   0};
  if (nb::len(shape) <= DOVETAIL_MAX_NDIM) {
    for (size_t k = 0; k < nb::len(shape); ++k) {
      sizes[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape.ptr(), k));
      if (sizes[k] == -1 && PyErr_Occurred() != nullptr) return false;
    }
  }
  const char* const type = PyUnicode_AsUTF8(nb::object(described[0]).ptr());
  if (type == nullptr) return false;
  const absl::StatusOr<DType> dtype = DType::Parse(type);
  if (dtype.ok()) lent.dtype = ToDLDataType(*dtype);
  DovetailBorrowed* const borrowed = call->AddTensor();
  *tensor = borrowed;
  KernelFailure failure;
  if (call->LoadLent(i, lent, nullptr, JaxArray(), borrowed, &failure)) return true;
  Raise(failure);
  return false;
}

bool TraceTensors(size_t i, PyObject* value, LoadedCall* call) {
  DovetailArgument& argument = call->value(i);
  const DovetailParameter& parameter = *call->loaded().named[i];
  argument.is_there = value != Py_None;
  // (LoadTensors() has the errors for all else.)
  if (!argument.is_there || (!PyTuple_Check(value) && !PyList_Check(value))) {
    return LoadTensors(i, value, call);
  }
  call->Name(i);
  if (!Has(parameter, DOVETAIL_PARAMETER_LIST)) {
    return TraceTensor(i, value, call, &argument.value.tensor);
  }
  return call->LoadList(i, static_cast<size_t>(PyList_GET_SIZE(value)),
                        [&](size_t k, const DovetailBorrowed** tensor) {
                          PyObject* const item = PyList_GET_ITEM(value, static_cast<Py_ssize_t>(k));
                          return TraceTensor(i, item, call, tensor);
                        });
}

nb::object Describe(DLDataType dtype, const int64_t* shape, int32_t ndim) {
  nb::list sizes;
  for (int32_t k = 0; k < ndim; ++k) sizes.append(shape[k]);
  return nb::make_tuple(ToDType(dtype).ToString().c_str(), nb::tuple(sizes));
}

// Of an Out. Invalid with an error set.
nb::object TraceOut(size_t i, LoadedCall* call) {
  const DovetailRequirements& wanted = *call->loaded().named[i]->wanted;
  call->Name(i);
  internal_fit::ResultSizes sizes;
  const std::string missing = FindResultSizes(wanted, *call->call(), &sizes);
  if (!missing.empty()) {
    Raise(PyExc_ValueError, internal_fit::ResultRefusal(*call->call(), missing, false));
    return {};
  }
  DLDataType dtype;
  const auto can_hold = [](DLDataType type) { return JaxHasType(ToDType(type)); };
  if (!FindResultType(wanted, *call->call(), can_hold, &dtype)) return {};
  // (Its names and types are known to those that follow.)
  const DovetailBorrowed* tensor;
  nb::object described = Describe(dtype, sizes.all, sizes.ndim);
  if (!TraceTensor(i, described.ptr(), call, &tensor)) return {};
  return described;
}

bool TraceAll(PyObject* values, LoadedCall* call) {
  const LoadedKernel& loaded = call->loaded();
  for (size_t i = 0; i < loaded.named.size(); ++i) {
    PyObject* const value = PyTuple_GET_ITEM(values, i);
    if (IsTensor(*loaded.named[i]) || value == Py_NotImplemented) continue;
    if (!LoadValue(i, value, call)) return false;
  }
  for (size_t i = 0; i < loaded.named.size(); ++i) {
    if (!IsTensor(*loaded.named[i])) continue;
    if (!TraceTensors(i, PyTuple_GET_ITEM(values, i), call)) return false;
  }
  return true;
}

}  // namespace

PyObject* TraceCall(const LoadedKernel& loaded, PyObject* values) {
  if (!PyTuple_Check(values) ||
      PyTuple_GET_SIZE(values) != static_cast<Py_ssize_t>(loaded.named.size())) {
    return Raise(PyExc_TypeError, "not a tuple of all arguments");
  }
  LoadedCall call(loaded);
  call.TraceOnly();
  if (!TraceAll(values, &call)) return nullptr;
  nb::list results;
  for (size_t i = 0; i < loaded.named.size(); ++i) {
    if (!internal_kernels::IsWritten(*loaded.named[i])) continue;
    if (call.value(i).is_there) {
      const DLTensor& tensor = call.value(i).value.tensor->tensor;
      results.append(Describe(tensor.dtype, tensor.shape, tensor.ndim));
      continue;
    }
    const nb::object described = TraceOut(i, &call);
    if (!described.is_valid()) return nullptr;
    results.append(described);
  }
  return results.release().ptr();
}

}  // namespace dovetail::python
