#include "dovetail/python/kernels/loader/functions.h"

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/kernels/loader/describe_kernel.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"
#include "dovetail/python/kernels/loader/plain_call.h"
#include "dovetail/python/kernels/loader/torch_kernel.h"
#include "dovetail/python/kernels/loader/traced_call.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

bool CheckCount(const char* function, Py_ssize_t nargs, Py_ssize_t wanted) {
  if (nargs == wanted) return true;
  PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, and got %zd", function, wanted, nargs);
  return false;
}

}  // namespace

PyObject* LoadKernelsFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!CheckCount("_load_kernels", nargs, 2)) return nullptr;
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(args[0], static_cast<void*>(&encoded)) == 0) return nullptr;
  const nb::object bytes = nb::steal(encoded);
  // (Kept for ever, as the library is: kernels tell of it.)
  auto* const path = new std::string(PyBytes_AS_STRING(encoded));
  const auto kernels = LoadKernelLibrary(*path);
  if (!kernels.ok()) return Raise(PyExc_ImportError, kernels.status().message());
  nb::list functions;
  for (const DovetailKernel* kernel : *kernels) {
    const LoadedKernel* const loaded = LoadedKernel::New(*kernel, path->c_str());
    const nb::object function =
        nb::steal(loaded != nullptr ? NewKernelFunction(*loaded, args[1]) : nullptr);
    if (!function.is_valid()) return nullptr;
    functions.append(function);
  }
  return functions.release().ptr();
}

PyObject* DescribeKernelFunction(PyObject*, PyObject* function) {
  const LoadedKernel* const loaded = KernelOf(function);
  if (loaded == nullptr) return nullptr;
  const nb::object parameters = nb::steal(DescribeParameters(*loaded));
  if (!parameters.is_valid()) return nullptr;
  return nb::make_tuple(parameters, loaded->kernel->num_results > 0).release().ptr();
}

PyObject* TraceKernelFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!CheckCount("_trace_kernel", nargs, 2)) return nullptr;
  const LoadedKernel* const loaded = KernelOf(args[0]);
  return loaded != nullptr ? TraceCall(*loaded, args[1]) : nullptr;
}

PyObject* XlaHandlersFunction(PyObject*, PyObject* function) {
  const LoadedKernel* const loaded = KernelOf(function);
  if (loaded == nullptr) return nullptr;
  const DovetailKernel& kernel = *loaded->kernel;
  nb::dict handlers;
  const auto add = [&handlers](const char* platform, void* (*handler)(void*)) {
    // (The name is the one that jax.ffi.pycapsule() gives.)
    handlers[platform] = nb::steal(
        PyCapsule_New(reinterpret_cast<void*>(handler), "xla._CUSTOM_CALL_TARGET", nullptr));
  };
  add("cpu", kernel.xla_cpu_kernel);
  add("CUDA", kernel.xla_cuda_kernel);
  add("ROCM", kernel.xla_rocm_kernel);
  return handlers.release().ptr();
}

PyObject* RegisterTorchKernelFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!CheckCount("_register_torch_kernel", nargs, 4)) return nullptr;
  const LoadedKernel* const loaded = KernelOf(args[0]);
  if (loaded == nullptr) return nullptr;
  const char* const name_space = PyUnicode_AsUTF8(args[1]);
  if (name_space == nullptr) return nullptr;
  std::vector<std::string> schemas;
  for (nb::handle schema : nb::borrow<nb::sequence>(args[2])) {
    const char* const text = PyUnicode_AsUTF8(schema.ptr());
    if (text == nullptr) return nullptr;
    schemas.emplace_back(text);
  }
  loaded->is_hip.store(args[3] == Py_True);
  const absl::Status done = RegisterTorchOperator(*loaded, name_space, schemas);
  if (!done.ok()) return Raise(PyExc_RuntimeError, done.message());
  Py_RETURN_NONE;
}

PyObject* SetTorchKernelFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (!CheckCount("_set_torch_kernel", nargs, 2)) return nullptr;
  const LoadedKernel* const loaded = KernelOf(args[0]);
  if (loaded == nullptr) return nullptr;
  loaded->torch_function.store(Py_NewRef(args[1]));  // an earlier one may be running
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
