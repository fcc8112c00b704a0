#include "dovetail/python/kernels/loader/plain_call.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"
#include "dovetail/python/exchange/routes/capi_table.h"
#include "dovetail/python/exchange/routes/make_borrowed.h"
#include "dovetail/python/kernels/loader/bind_arguments.h"
#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/loader/torch_kernel.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr size_t kMostParameters = 64;
constexpr size_t kMostResults = 16;

// What a kernel's function is bound to: its library, as pickle and copy know it.
struct KernelSelf {
  PyObject_HEAD const LoadedKernel* loaded;
  PyObject* name_space;
};

PyObject* ReduceSelf(PyObject* self, PyObject*) {
  auto* const kernel = reinterpret_cast<KernelSelf*>(self);
  const nb::object load = nb::steal(PyImport_ImportModule("dovetail._kernels"));
  if (!load.is_valid()) return nullptr;
  const nb::object function = nb::steal(PyObject_GetAttrString(load.ptr(), "_load"));
  const nb::object path = nb::steal(PyUnicode_DecodeFSDefault(kernel->loaded->library));
  if (!function.is_valid() || !path.is_valid()) return nullptr;
  return Py_BuildValue("O(OO)", function.ptr(), path.ptr(), kernel->name_space);
}

PyObject* ReprSelf(PyObject* self) {
  auto* const kernel = reinterpret_cast<KernelSelf*>(self);
  return PyUnicode_FromFormat("<kernels %R>", kernel->name_space);
}

// (Functions, and with them these objects, live for ever.)
PyTypeObject* SelfType() {
  static PyMethodDef methods[] = {{"__reduce__", &ReduceSelf, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {
      {Py_tp_methods, methods}, {Py_tp_repr, reinterpret_cast<void*>(&ReprSelf)}, {0, nullptr}};
  static PyType_Spec spec = {"dovetail._core.KernelLibrary", sizeof(KernelSelf), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  static constinit GilGuarded<PyTypeObject*> type(nullptr);
  if (type.load() == nullptr) type.store(reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec)));
  return type.load();
}

PyObject* NewSelf(const LoadedKernel& loaded, PyObject* name_space) {
  if (SelfType() == nullptr) return nullptr;
  auto* const self = PyObject_New(KernelSelf, SelfType());
  if (self == nullptr) return nullptr;
  self->loaded = &loaded;
  self->name_space = Py_NewRef(name_space);
  return reinterpret_cast<PyObject*>(self);
}

// What PyTorch has to do with a call.
enum class Torch {
  kNone,
  kPlain,     // some of the tensors are its own
  kOperator,  // an object of a subclass, or a mode that has to see the operation
};

Torch LookAt(PyObject* object) {
  PyTypeObject* const type = Py_TYPE(object);
  if (torch_tensor.Is(type) || torch_parameter.Is(type)) return Torch::kPlain;
  if (numpy_ndarray.Is(type) || !torch_tensor.IsBaseOf(type)) return Torch::kNone;
  return Torch::kOperator;
}

// Calls visit(object, its parameter's number) for each tensor argument that is not None, and for
// each element of a list, until that returns false. Whether none did.
template <typename Visit>
bool ForEachTensor(const LoadedKernel& loaded, PyObject* const* objects, Visit visit) {
  for (size_t i = 0; i < loaded.parameters.size(); ++i) {
    PyObject* const object = objects[i];
    if (!loaded.parameters[i].is_tensor() || object == Py_None) continue;
    if (!loaded.parameters[i].is(DOVETAIL_PARAMETER_LIST)) {
      if (!visit(object, i)) return false;
    } else if (PyList_Check(object) || PyTuple_Check(object)) {
      for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(object); ++k) {
        if (!visit(PySequence_Fast_GET_ITEM(object, k), i)) return false;
      }
    }
  }
  return true;
}

Torch LookAt(const LoadedKernel& loaded, PyObject* const* objects) {
  Torch found = Torch::kNone;
  ForEachTensor(loaded, objects, [&found](PyObject* object, size_t) {
    found = std::max(found, LookAt(object));
    return true;
  });
  const bool has_to_see = found == Torch::kPlain && (TorchModeIsActive() || TorchIsTracing());
  return has_to_see ? Torch::kOperator : found;
}

// The kernel's operator, by the function that the package's PyTorch side made. An error of the
// kernel has its own class again, which an operator can't raise.
PyObject* CallTorch(const LoadedKernel& loaded, PyObject* const* objects) {
  PyObject* const function = loaded.torch_function.load();
  ForgetTorchFailure();
  PyObject* const result = PyObject_Vectorcall(
      function, objects, static_cast<size_t>(loaded.num_positional),
      PyTuple_GET_SIZE(loaded.keyword_names) > 0 ? loaded.keyword_names : nullptr);
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_RuntimeError)) RestoreTorchFailure();
  return result;
}

// Makes the operators of libraries that were loaded while PyTorch's import was under way.
bool CatchUp(const LoadedKernel& loaded) {
  loaded.waits_for_torch.store(false);
  const nb::object module = nb::steal(PyImport_ImportModule("dovetail._kernels.after_import"));
  return module.is_valid() &&
         nb::steal(PyObject_CallMethod(module.ptr(), "catch_up", nullptr)).is_valid();
}

// Of a kernel whose results are no part of an operator, and of a PyTorch that takes none.
PyObject* RefuseTorch(const LoadedKernel& loaded) {
  return Raise(PyExc_TypeError,
               absl::StrCat(loaded.kernel->name,
                            "(): is no operator of PyTorch: it takes plain tensors alone, outside ",
                            "of torch.compile, torch.export and other modes"));
}

// Tells PyTorch that its tensors are written.
bool CountWrites(const LoadedKernel& loaded, PyObject* const* objects) {
  for (size_t i = 0; i < loaded.parameters.size(); ++i) {
    if (loaded.parameters[i].is(DOVETAIL_PARAMETER_OUT | DOVETAIL_PARAMETER_INOUT) &&
        objects[i] != Py_None && LookAt(objects[i]) == Torch::kPlain &&
        !CountTorchWrite(objects[i])) {
      return false;
    }
  }
  return true;
}

constinit PeerType jax_tracer("jax.core", "Tracer");

bool IsTraced(PyObject* object) { return jax_tracer.IsBaseOf(Py_TYPE(object)); }

// Whether JAX traces an argument, a number or an element of a list.
bool IsTraced(const LoadedKernel& loaded, PyObject* const* objects) {
  for (size_t i = 0; i < loaded.parameters.size(); ++i) {
    if (!loaded.parameters[i].is_tensor() && IsTraced(objects[i])) return true;
  }
  return !ForEachTensor(loaded, objects,
                        [](PyObject* object, size_t) { return !IsTraced(object); });
}

// The call within JAX's program, by the function that the package's JAX side makes.
PyObject* CallJax(const LoadedKernel& loaded, PyObject* const* objects) {
  if (loaded.jax_function.load() == nullptr) {
    const nb::object module = nb::steal(PyImport_ImportModule("dovetail._kernels.jax_calls"));
    PyObject* const made = module.is_valid() ? PyObject_CallMethod(module.ptr(), "make_call", "O",
                                                                   loaded.function.load())
                                             : nullptr;
    if (made == nullptr) return nullptr;
    loaded.jax_function.store(made);  // (another thread's may be running)
  }
  return PyObject_Vectorcall(loaded.jax_function.load(), objects, loaded.parameters.size(),
                             nullptr);
}

// Tensors come last: the code of other arguments' objects could take their memory away.
bool LoadAll(PyObject* const* objects, LoadedCall* call) {
  const auto& parameters = call->loaded().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_tensor() && !LoadValue(i, objects[i], call)) return false;
  }
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].is_tensor() && !LoadTensors(i, objects[i], call)) return false;
  }
  return true;
}

// Whether each tensor of the call is PyTorch's: its operator takes no others.
bool AreAllTorch(const LoadedKernel& loaded, PyObject* const* objects) {
  return ForEachTensor(loaded, objects,
                       [](PyObject* object, size_t) { return LookAt(object) != Torch::kNone; });
}

// A call within a call, by the code of an argument's object. Each takes some 12 KiB of the stack.
class Nested {
 public:
  Nested() { ++depth_; }
  ~Nested() { --depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  bool is_too_deep() const { return depth_ > 100; }

 private:
  static thread_local int depth_;
};
thread_local int Nested::depth_ = 0;

// Makes the Outs that the caller left out.
bool MakeOuts(PyObject* like, LoadedCall* call) {
  const auto& parameters = call->loaded().parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    DovetailArgument& value = call->value(i);
    if (!parameters[i].is(DOVETAIL_PARAMETER_OUT) || value.is_there) continue;
    DovetailBorrowed* const made = call->AddTensor();
    call->Name(i);
    if (MakeBorrowed(parameters[i].facts->wanted, call->call(), like, made) != 0) return false;
    value.is_there = 1;
    value.value.tensor = made;
  }
  return true;
}

// The tensor that the function wrote: the caller's own object, or a new one.
PyObject* TakeWritten(const DovetailArgument& value, PyObject* like) {
  return Dovetail_Result(const_cast<DovetailBorrowed*>(value.value.tensor), like);
}

PyObject* AsResult(std::vector<PyObject*> all, bool is_tuple) {
  if (all.empty()) Py_RETURN_NONE;
  if (!is_tuple && all.size() == 1) return all[0];
  PyObject* const tuple = PyTuple_New(static_cast<Py_ssize_t>(all.size()));
  for (size_t i = 0; i < all.size(); ++i) {
    if (tuple == nullptr) {
      Py_DECREF(all[i]);
    } else {
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), all[i]);
    }
  }
  return tuple;
}

void Drop(DLManagedTensorVersioned* tensor) {
  if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
}

// What the call returns, of a function that ended well. Takes `returned`.
PyObject* TakeResults(PyObject* like, LoadedCall* call, DLManagedTensorVersioned** returned) {
  const LoadedKernel& loaded = call->loaded();
  if (loaded.kernel->num_results == 0 && loaded.num_written == 1) [[likely]] {
    return TakeWritten(call->value(static_cast<size_t>(loaded.first_written)), like);
  }
  std::vector<PyObject*> all;
  bool failed = false;
  const auto add = [&](PyObject* object) {
    failed = failed || object == nullptr;
    if (object != nullptr) all.push_back(object);
  };
  for (size_t i = 0; i < loaded.parameters.size() && !failed; ++i) {
    if (loaded.parameters[i].is(DOVETAIL_PARAMETER_OUT | DOVETAIL_PARAMETER_INOUT)) {
      add(TakeWritten(call->value(i), like));
    }
  }
  for (int32_t i = 0; i < loaded.kernel->num_results; ++i) {
    if (!failed) {
      add(CApiTable()->to_python(returned[i], like));
    } else {
      Drop(returned[i]);
    }
  }
  if (!failed) return AsResult(std::move(all), loaded.kernel->returns_a_tuple != 0);
  for (PyObject* object : all) Py_DECREF(object);
  return nullptr;
}

// A null tensor that the function returned.
bool CheckReturned(const LoadedKernel& loaded, DLManagedTensorVersioned** returned) {
  bool is_whole = true;
  for (int32_t i = 0; i < loaded.kernel->num_results; ++i) is_whole &= returned[i] != nullptr;
  if (is_whole) return true;
  for (int32_t i = 0; i < loaded.kernel->num_results; ++i) {
    Drop(returned[i]);
  }
  Raise(PyExc_RuntimeError, absl::StrCat(loaded.kernel->name, "() returned an empty OwnedTensor"));
  return false;
}

PyObject* RunPlain(LoadedCall* call) {
  const LoadedKernel& loaded = call->loaded();
  PyObject* const like = call->like();
  KernelFailure failure;
  if (!call->CheckDevices(&failure)) return Raise(failure);
  if (!MakeOuts(like, call)) return nullptr;
  if (!call->CheckOverlap(&failure)) return Raise(failure);
  DLManagedTensorVersioned* returned[kMostResults];
  std::fill_n(returned, loaded.kernel->num_results, nullptr);
  bool done;
  if (call->nbytes() >= kLongBytes) {
    // (Not WithoutGil, which lets signals end the work: the author's function has no such end.)
    PyThreadState* const thread = PyEval_SaveThread();
    done = call->Run(returned, &failure);
    TakeGil(thread);
  } else {
    done = call->Run(returned, &failure);
  }
  if (!done) return Raise(failure);
  if (loaded.kernel->num_results > 0 && !CheckReturned(loaded, returned)) return nullptr;
  return TakeResults(like, call, returned);
}

PyObject* CallKernel(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const LoadedKernel& loaded = *reinterpret_cast<KernelSelf*>(self)->loaded;
  PyObject* objects[kMostParameters];
  if (!BindArguments(loaded, args, nargs, kwnames, objects)) return nullptr;
  const Nested nested;
  if (nested.is_too_deep()) {
    return Raise(PyExc_RecursionError, absl::StrCat(loaded.kernel->name, "() calls itself"));
  }
  const Torch torch = LookAt(loaded, objects);
  if (torch != Torch::kNone && loaded.waits_for_torch.load() && !CatchUp(loaded)) return nullptr;
  const bool has_operator = loaded.torch_function.load() != nullptr;
  if (torch == Torch::kOperator) {
    return has_operator ? CallTorch(loaded, objects) : RefuseTorch(loaded);
  }
  LoadedCall call(loaded);
  if (LoadAll(objects, &call)) {
    if (torch == Torch::kPlain && !CountWrites(loaded, objects)) return nullptr;
    return RunPlain(&call);
  }
  if (IsTraced(loaded, objects)) {
    call.Release();
    PyErr_Clear();
    return CallJax(loaded, objects);
  }
  if (torch == Torch::kNone || !has_operator || !PyErr_ExceptionMatches(ExchangeError()) ||
      !AreAllTorch(loaded, objects)) {
    return nullptr;
  }
  // What PyTorch does not lend: gradients, transforms, lazy conjugates.
  call.Release();
  PyErr_Clear();
  return CallTorch(loaded, objects);
}

}  // namespace

PyObject* NewKernelFunction(const LoadedKernel& loaded, PyObject* module_name) {
  if (loaded.parameters.size() > kMostParameters ||
      loaded.kernel->num_results > static_cast<int32_t>(kMostResults)) {
    return Raise(PyExc_ImportError,
                 absl::StrCat(loaded.kernel->name, "() has more than ", kMostParameters,
                              " parameters or returns more than ", kMostResults, " tensors"));
  }
  const nb::object self = nb::steal(NewSelf(loaded, module_name));
  if (!self.is_valid()) return nullptr;
  PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) =
      &Guard<&CallKernel, PyObject*, PyObject* const*, Py_ssize_t, PyObject*>;
  // (Kept as long as the function: for ever.)
  auto* const definition = new PyMethodDef{
      loaded.kernel->name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)),
      METH_FASTCALL | METH_KEYWORDS, loaded.doc.c_str()};
  PyObject* const made = PyCFunction_NewEx(definition, self.ptr(), module_name);
  if (made != nullptr) loaded.function.store(Py_NewRef(made));
  return made;
}

const LoadedKernel* KernelOf(PyObject* function) {
  PyObject* const self = PyCFunction_Check(function) ? PyCFunction_GET_SELF(function) : nullptr;
  if (self != nullptr && Py_IS_TYPE(self, SelfType())) {
    return reinterpret_cast<KernelSelf*>(self)->loaded;
  }
  Raise(PyExc_TypeError, "not a function of load_kernels()");
  return nullptr;
}

}  // namespace dovetail::python
