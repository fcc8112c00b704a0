// The extension module dovetail._core: what each part adds to it, and where it may be imported.
//
// The module is one for the whole process: its types are static, and what it knows of other
// libraries is kept in variables of the process. It needs no GIL. Subinterpreters are refused.

#include <nanobind/nanobind.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/version.h"
#include "dovetail/devices/register_all.h"
#include "dovetail/python/exchange/routes/capi_table.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/kernels/loader/functions.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/descriptors/descriptors.h"
#include "dovetail/python/module/errors.h"
#include "dovetail/python/module/functions/convert.h"
#include "dovetail/python/module/functions/functions.h"
#include "dovetail/python/module/ipc/ipc.h"
#include "dovetail/python/module/ipc/pool_class.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/reshard/plan_class.h"
#include "dovetail/python/module/streams/streams.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/slots.h"
#include "dovetail/python/module/trace/trace.h"
#include "dovetail/python/module/values/values.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyMethodDef functions[] = {
    FastKeywords<&FromDLPackFunction>(
        "from_dlpack",
        "from_dlpack($module, x, /, *, device=None, copy=None)\n--\n\n"
        "A tensor that shares the memory of x, an object with __dlpack__ and __dlpack_device__ or "
        "a DLPack capsule.\n\n"
        "device  where the tensor is to lie; None: where x is\n"
        "copy    True: always a copy; False: never one, ExchangeError if it would take one;\n"
        "        None: a copy only if device needs it\n\n"
        "Raises ExchangeError for what can't be exchanged, AttributeError for an x without the\n"
        "protocol. A capsule can be used once."),
    FastKeywords<&ToDLPackFunction>(
        "to_dlpack",
        "to_dlpack($module, tensor, *, max_version=None, stream=None, copy=None)\n--\n\n"
        "The tensor as a DLPack capsule that shares its memory: a legacy \"dltensor\" or, with\n"
        "max_version=(1, 0) or later, a \"dltensor_versioned\". Other libraries take the tensor\n"
        "itself, by its __dlpack__ method, and need no capsule."),
    OneArgument<&ToImmutableConsumer>("_to_immutable_consumer",
                                      "_to_immutable_consumer($module, tensor, /)\n--\n\n"
                                      "A legacy capsule for a library that never writes."),
    Fast<&TraceImport>("_trace_import",
                       "_trace_import($module, x, device, copy, /)\n--\n\n"
                       "An import that tells how it went, for explain()."),
    Fast<&TraceConvert>("_trace_convert",
                        "_trace_convert($module, x, target, copy, /)\n--\n\n"
                        "A conversion that tells how it went, for explain()."),
    NoArguments<&PrivateReadsFunction>(
        "_private_reads",
        "_private_reads($module, /)\n--\n\n"
        "What is read of other libraries that they do not publish: a tuple (library, what, where,\n"
        "published, check) for each."),
    NoArguments<&CheckPrivateReadsFunction>(
        "_check_private_reads",
        "_check_private_reads($module, /)\n--\n\n"
        "For each check that C++ makes, whether it holds. Imports PyTorch."),
    FastKeywords<&ConvertFunction>(
        "convert",
        "convert($module, x, target, /, *, copy=None)\n--\n\n"
        "x, any library's tensor, as an object of the class target: numpy.ndarray, torch.Tensor,\n"
        "jax.Array, paddle.Tensor, tvm_ffi.Tensor, pyarrow.Array, onnxruntime.OrtValue,\n"
        "tensorflow.Tensor, dovetail.Tensor, one that register_converter() added, or one whose\n"
        "library has a function from_dlpack(). Or a library's name: \"torch\", \"numpy\", \"jax\"\n\n"
        "copy  True: always a copy; False: never one, ExchangeError if it would take one;\n"
        "      None: a copy only where the target can't take the memory as it is: read-only memory\n"
        "      for a library that would write to it, strides that it does not have"),
    FastKeywords<&AsArrayFunction>(
        "asarray",
        "asarray($module, x, /, *, dtype=None, device=None, copy=None)\n--\n\n"
        "x as a tensor: over its own memory if x can be exchanged, else a copy.\n\n"
        "x     another library's tensor or array, or numbers in nested lists\n"
        "copy  True: always a copy; False: never one, ExchangeError (ValueError, too) if it takes\n"
        "      one; None: a copy only for another dtype or device, and for numbers\n\n"
        "NumPy's function, as the array API standard has it."),
    Fast<&RegisterConverter>(
        "register_converter",
        "register_converter($module, type, from_tensor, /)\n--\n\n"
        "Teaches convert() a class: from_tensor makes one of a dovetail.Tensor. It takes\n"
        "precedence over the library's from_dlpack()."),
    Fast<&LoadKernelsFunction>("_load_kernels",
                               "_load_kernels($module, path, module_name, /)\n--\n\n"
                               "The functions of a kernel library, for load_kernels()."),
    OneArgument<&DescribeKernelFunction>("_describe_kernel",
                                         "_describe_kernel($module, function, /)\n--\n\n"
                                         "Its parameters, and whether it returns tensors, too."),
    Fast<&RegisterTorchKernelFunction>(
        "_register_torch_kernel",
        "_register_torch_kernel($module, function, namespace, schemas, is_hip, /)\n--\n\n"
        "Defines the operators of a kernel in PyTorch."),
    Fast<&SetTorchKernelFunction>("_set_torch_kernel",
                                  "_set_torch_kernel($module, function, call, /)\n--\n\n"
                                  "What it calls for PyTorch's tensors that are no plain memory."),
    Fast<&TraceKernelFunction>(
        "_trace_kernel", "_trace_kernel($module, function, values, /)\n--\n\nWhat it writes."),
    OneArgument<&XlaHandlersFunction>("_xla_handlers",
                                      "_xla_handlers($module, function, /)\n--\n\nBy platform."),
    OneArgument<&FromArrowFunction>(
        "from_arrow",
        "from_arrow($module, x, /)\n--\n\n"
        "A read-only tensor that shares the memory of an Arrow array: numbers without nulls. Each\n"
        "list of a fixed size is a dimension; a fixed shape tensor has several. x has\n"
        "__arrow_c_device_array__, __arrow_c_array__, or __arrow_c_stream__ with a column in one\n"
        "piece, such as a pandas or polars Series.\n\n"
        "Raises ExchangeError for what can't be a tensor, AttributeError for an x without the\n"
        "protocol."),
    OneArgument<&FromArrayInterface>(
        "from_array_interface",
        "from_array_interface($module, x, /)\n--\n\n"
        "A tensor that shares the memory of an object with __array_interface__."),
    OneArgument<&FromCudaArrayInterface>(
        "from_cuda_array_interface",
        "from_cuda_array_interface($module, x, /)\n--\n\n"
        "A tensor that shares the memory of an object with __cuda_array_interface__. Without a\n"
        "CUDA backend, which could tell the device, it is on cuda:0."),
    OneArgument<&FromUsmArrayInterface>(
        "from_usm_array_interface",
        "from_usm_array_interface($module, x, /)\n--\n\n"
        "A tensor that shares the memory of an object with __sycl_usm_array_interface__, on its\n"
        "device of oneAPI. The current stream waits for the work of the queue that x names."),
    FastKeywords<&FromBuffer>(
        "frombuffer",
        "frombuffer($module, buffer, *, dtype, count=-1, offset=0, requires_grad=False)\n--\n\n"
        "A 1-D tensor over the bytes of an object with the buffer protocol, which it shares.\n\n"
        "dtype   the type that the bytes are read as; it is not inferred\n"
        "count   elements; negative: all that follow offset\n"
        "offset  bytes to skip\n\n"
        "A read-only buffer gives a read-only tensor. The buffer is held as long as the tensor\n"
        "lives, so that resizing its owner meanwhile raises BufferError (torch does not hold it).\n"
        "ValueError for counts and offsets that do not go with the buffer's size."),
    FastKeywords<&MakeTensor>(
        "tensor",
        "tensor($module, data, *, dtype=None, device=None, requires_grad=False)\n--\n\n"
        "A copy of data: a number, nested lists, or another library's array. Python floats give\n"
        "float32, ints int64."),
    FastKeywords<&CopyToFunction>(
        "copyto",
        "copyto($module, dst, src, casting='same_kind')\n--\n\n"
        "Copies src, a number, nested lists or any library's array, into the tensor dst. It is\n"
        "broadcast to dst's shape and cast to its type, as far as casting allows: 'no', 'equiv',\n"
        "'safe', 'same_kind' or 'unsafe', as in NumPy. Where the two overlap, the result is as if\n"
        "src had been copied first.\n\n"
        "TypeError for a cast that is not allowed, ValueError for a shape that does not broadcast\n"
        "or a dst that is read-only."),
    FastKeywords<&Empty>(
        "empty",
        "empty($module, *sizes, shape=None, size=None, dtype=None, device=None)\n--\n\n"
        "A tensor in new memory, uninitialised and aligned to 256 bytes: float32 unless dtype says\n"
        "otherwise. The sizes may be one tuple, as shape=, too."),
    FastKeywords<&Zeros>(
        "zeros",
        "zeros($module, *sizes, shape=None, size=None, dtype=None, device=None)\n--\n\n"
        "As empty(), filled with zeros."),
    FastKeywords<&Full>(
        "full",
        "full($module, shape, fill_value, *, dtype=None, device=None)\n--\n\n"
        "A tensor whose elements are fill_value, a number or a 0-d tensor; its type as of tensor()."),
    FastKeywords<&Arange>(
        "arange",
        "arange($module, start, stop=None, step=1, *, dtype=None, device=None)\n--\n\n"
        "Evenly spaced numbers from start up to stop, without it: int64 from ints, float32 if one is\n"
        "a float. With one number alone, that is stop, and start is 0. OverflowError if dtype does\n"
        "not hold a number, ValueError for steps away from stop, and fractions of an integer type."),
    FastKeywords<&ToTensor>(
        "to_tensor",
        "to_tensor($module, data, dtype=None, place=None, stop_gradient=True)\n--\n\n"
        "tensor() under Paddle's name and parameters."),
    NoArguments<&GetNumThreadsFunction>(
        "get_num_threads",
        "get_num_threads($module, /)\n--\n\n"
        "The most threads that one copy on the CPU uses, the calling thread included. At first, the\n"
        "number of processors that the process may run on."),
    OneArgument<&SetNumThreadsFunction>(
        "set_num_threads",
        "set_num_threads($module, count, /)\n--\n\n"
        "Sets the most threads that one copy on the CPU uses, for the whole process; 1: the calling\n"
        "thread alone. ValueError below 1.\n\n"
        "Threads are started by the first copy that is large enough to need them, and after a fork\n"
        "the child starts its own."),
    FastKeywords<&StreamFunction>(
        "stream",
        "stream($module, stream, device=None)\n--\n\n"
        "A context in which this thread's work on the stream's device goes to it, and on which\n"
        "other libraries' tensors are taken in.\n\n"
        "stream  a Stream, another library's stream (PyTorch's, CuPy's, anything with\n"
        "        __cuda_stream__), or a handle, which must outlive the context\n"
        "device  whose stream it is, where the object does not say"),
    FastKeywords<&CurrentStreamFunction>(
        "current_stream",
        "current_stream($module, device=None)\n--\n\n"
        "The Stream that this thread's work on the device goes to: that of the innermost stream(),\n"
        "else the default one."),
    OneArgument<&RegisterBackendFunction>(
        "register_backend",
        "register_backend($module, capsule, /)\n--\n\n"
        "Takes in a backend from another extension module: a capsule named \"dovetail_backend\"\n"
        "around the C struct of dovetail/core/abi/backend_abi.h, which can be used once.\n\n"
        "RuntimeError where a backend serves its devices already, ValueError for a struct of\n"
        "another major version. One that comes with Dovetail makes room where the environment\n"
        "variable DOVETAIL_BACKENDS leaves it out at import, as \"cpu\" does of cpu, cuda, rocm, oneapi."),
    FastKeywords<&AllocatorsFunction>(
        "allocators",
        "allocators($module, device, kind='device')\n--\n\n"
        "The names that set_allocator() takes, the default first.\n\n"
        "kind  of memory: 'device', 'pinned', 'managed' or 'shared' (with other processes)"),
    Fast<&SetAllocatorFunction>("_set_allocator",
                                "_set_allocator($module, device, allocator, kind, /)\n--\n\n"
                                "What set_allocator() does, once it knows the functions."),
    FastKeywords<&AllocatorStatsFunction>(
        "allocator_stats",
        "allocator_stats($module, device, kind='device')\n--\n\n"
        "What the allocator in use gave out and holds: allocated_bytes, peak_bytes,\n"
        "reserved_bytes (taken from the system), allocations and retries (calls)."),
    FastKeywords<&TrimMemoryFunction>(
        "trim_memory",
        "trim_memory($module, device, keep=0, kind='device')\n--\n\n"
        "Waits for the device and gives memory that nobody uses back to the system, that of every\n"
        "allocator of the device, all but keep bytes of the one in use. Not while a stream is\n"
        "captured into a graph."),
    NoArguments<&BackendsFunction>(
        "backends",
        "backends($module, /)\n--\n\n"
        "The backends by name, each with its number of devices or, as text, why it has none."),
    NoArguments<&LibraryFilesFunction>(
        "_library_files",
        "_library_files($module, /)\n--\n\n"
        "The files of each backend's driver that the process has loaded; the first is in use."),
    NoArguments<&BuildFactsFunction>("_build_facts",
                                     "_build_facts($module, /)\n--\n\n"
                                     "What the module was built with, for show_config()."),
    OneArgument<&DTypeFunction>(
        "dtype",
        "dtype($module, value, /)\n--\n\n"
        "The DType that a name, a Python type or another library's type stands for."),
    OneArgument<&MemoryOfFunction>("_memory_of",
                                   "_memory_of($module, tensor, /)\n--\n\n"
                                   "What a pickle of the tensor needs, for dovetail._pickle."),
    Fast<&TensorInFunction>("_tensor_in",
                            "_tensor_in($module, memory, fields, /)\n--\n\n"
                            "A tensor in the memory of a pickle, for dovetail._pickle."),
    OneArgument<&NewPickleBuffer>("_pickle_buffer",
                                  "_pickle_buffer($module, tensor, /)\n--\n\n"
                                  "A PickleBuffer of the tensor, for dovetail._pickle."),
    OneArgument<&TraceStartFunction>("_trace_start",
                                     "_trace_start($module, limit, /)\n--\n\n"
                                     "A recorder of at most limit events, for dovetail.trace()."),
    OneArgument<&TraceEventsFunction>("_trace_events",
                                      "_trace_events($module, recorder, /)\n--\n\n"
                                      "Its events, and the number of those left out."),
    OneArgument<&TraceStopFunction>("_trace_stop",
                                    "_trace_stop($module, recorder, /)\n--\n\n"
                                    "Ends the recording; the events stay."),
    NoArguments<&NoCopiesEnterFunction>("_no_copies_enter",
                                        "_no_copies_enter($module, /)\n--\n\n"
                                        "Refuses copies on this thread, for dovetail.no_copies()."),
    OneArgument<&NoCopiesLeaveFunction>("_no_copies_leave",
                                        "_no_copies_leave($module, scope, /)\n--\n\n"
                                        "Ends what _no_copies_enter() began."),
    kEndOfMethods,
};

void AddEverything(nb::module_ m) {
  // The types and their singletons live as long as the process, which is no leak to tell of.
  nb::set_leak_warnings(false);
  // Of the backends that come with Dovetail those that the environment names, or all.
  const char* names = std::getenv("DOVETAIL_BACKENDS");
  if (names == nullptr || absl::StripAsciiWhitespace(names).empty()) {
    RegisterAllBackends();
  } else if (absl::Status s = RegisterBackends(names); !s.ok()) {
    throw nb::import_error(("DOVETAIL_BACKENDS: " + std::string(s.message())).c_str());
  }
  m.attr("__version__") = DOVETAIL_VERSION_STRING;
  m.attr(DOVETAIL_CAPI_ATTRIBUTE) = nb::steal(
      PyCapsule_New(const_cast<DovetailCApi*>(CApiTable()), DOVETAIL_CAPI_CAPSULE, nullptr));
  m.attr("dlpack_version") = nb::make_tuple(DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  const char* trace = std::getenv("DOVETAIL_TRACE");
  const bool is_traced = trace != nullptr && std::string_view(trace) != "0";
  const nb::object setting = nb::steal(PyUnicode_DecodeFSDefault(is_traced ? trace : ""));
  if (!setting.is_valid()) throw nb::python_error();
  m.attr("_trace_setting") = setting;  // a path, perhaps of bytes that are no UTF-8
  m.attr("_convert_targets") = PeerNames();
  AddDTypeClass(m);
  AddDeviceClass(m);
  AddStreams(m);
  AddPool(m);
  AddReshardPlan(m);
  if (!MakeConverterTable() || !AddExchangeErrors(m.ptr()) || !AddTensorType(m.ptr()) ||
      !AddDescriptorFunctions(m.ptr()) || PyModule_AddFunctions(m.ptr(), functions) != 0 ||
      PyModule_AddFunctions(m.ptr(), IpcFunctions()) != 0) {
    throw nb::python_error();
  }
}

PyObject* the_module = nullptr;  // written under the import lock, as is `is_filled`
bool is_filled = false;

// The module, a new one at first. Refuses subinterpreters of every kind. CPython itself would
// refuse only some: those with a GIL of their own, from 3.12 on.
PyObject* Create(PyObject* spec, PyModuleDef*) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(
        PyExc_ImportError,
        "dovetail can't be imported in a subinterpreter, because its classes are shared "
        "by the whole process. Use it in the main interpreter; for parallel work use "
        "threads, processes, or a free-threaded Python.");
    return nullptr;
  }
  if (the_module == nullptr) {
    const nb::object name = nb::steal(PyObject_GetAttrString(spec, "name"));
    if (name.is_valid()) the_module = PyModule_NewObject(name.ptr());
  }
  return Py_XNewRef(the_module);
}

int Fill(PyObject* module) {
  if (is_filled) return 0;  // imported anew, after it was taken out of sys.modules
  if (!nb::register_module(module)) return -1;
  try {
    AddEverything(nb::borrow<nb::module_>(module));
    is_filled = true;
    return 0;
  } catch (nb::python_error& e) {
    e.restore();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_ImportError, e.what());
  }
  return -1;
}

// A slot's value is a pointer to a function, or a constant.
template <typename Result, typename... Args>
void* Slot(Result (*function)(Args...)) {
  return reinterpret_cast<void*>(function);
}

PyModuleDef_Slot slots[] = {
    {Py_mod_create, Slot(&Create)},
    {Py_mod_exec, Slot(&Fill)},
#if PY_VERSION_HEX >= 0x030c0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},  // Create() refuses them
#endif
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr},
};

PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "dovetail._core",
    .m_doc = nullptr,
    .m_size = 0,
    .m_methods = nullptr,
    .m_slots = slots,
    .m_traverse = nullptr,
    .m_clear = nullptr,
    .m_free = nullptr,
};

}  // namespace
}  // namespace dovetail::python

// CPython chose the name.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
PyMODINIT_FUNC PyInit__core() { return PyModuleDef_Init(&dovetail::python::definition); }
