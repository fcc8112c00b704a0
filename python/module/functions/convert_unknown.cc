#include "dovetail/python/module/functions/convert_unknown.h"
#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/class_name.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/find_item.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/routes/from_dlpack_function.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/module/functions/convert_steps.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyObject* registered = nullptr;  // a dict: class → function of a dovetail.Tensor

PyObject* NoTarget(PyTypeObject* target) {
  PyErr_Format(PyExc_TypeError,
               "convert() has no way to make a %R: its library has no from_dlpack(). It knows %s; "
               "register_converter() adds others",
               target, PeerNames());
  return nullptr;
}

// Its library makes none of a subclass (torch.nn.Parameter).
PyObject* IsSubclass(PyTypeObject* target, const Peer& base) {
  PyErr_Format(PyExc_TypeError,
               "convert() makes a %s.%s, and no %R, which is a subclass; register_converter() adds "
               "others",
               base.type.module(), base.type.name(), target);
  return nullptr;
}

// A call of a function of another library with the tensor.
nb::object CallWith(PyObject* function, Tensor tensor) {
  const nb::object object = nb::steal(WrapTensor(std::move(tensor)));
  if (!object.is_valid()) return {};
  return nb::steal(HangAtThreadEnd([&] { return PyObject_CallOneArg(function, object.ptr()); }));
}

PyObject* ByRegistered(PyObject* x, PyObject* function, std::optional<bool> copy,
                       ConvertTrace* trace) {
  Tensor tensor;
  if (!TakeIn(x, copy, trace, &tensor)) return nullptr;
  if (copy.value_or(false) && !ReplaceByCopy(tensor.device(), &tensor)) return nullptr;
  return CallWith(function, std::move(tensor)).release().ptr();
}

// The result of the library's function. What refuses strides gets a copy without them.
nb::object MakeByFunction(PyObject* function, std::optional<bool> copy, ConvertTrace* trace,
                          Tensor* tensor) {
  nb::object made = CallWith(function, *tensor);
  if (made.is_valid() || tensor->is_contiguous() || ForbidsCopy(copy) || !ForgetException()) {
    return made;
  }
  if (!ReplaceByCopy(tensor->device(), tensor)) return {};
  if (trace != nullptr) trace->misfit = "is not contiguous, which it asks for";
  return CallWith(function, *tensor);
}

bool CheckClass(PyObject* made, PyTypeObject* target, PyObject* function) {
  const int is_one = PyObject_IsInstance(made, reinterpret_cast<PyObject*>(target));
  if (is_one == 0) {
    PyErr_Format(PyExc_TypeError,
                 "%R made a %.200s, not a %R; register_converter() takes a function that does",
                 function, Py_TYPE(made)->tp_name, target);
  }
  return is_one > 0;
}

// Whether the result has the tensor's memory. What does not show its memory counts as a copy. False
// with an error set if an interrupt stopped the check.
bool FindWhetherShared(PyObject* made, const Tensor& tensor, bool* shared) {
  *shared = false;
  Tensor again;
  const auto always = [](PyObject*) { return true; };
  if (!ImportAny(made, {.is_unordered = always}, &again)) return ForgetException();
  *shared = tensor.nbytes() == 0 ||
            (again.device() == tensor.device() && again.raw_data() == tensor.raw_data());
  return true;
}

// The end of a conversion whose result must not be a copy, or is to be explained.
bool CheckShared(PyObject* made, PyTypeObject* target, const Tensor& tensor,
                 std::optional<bool> copy, ConvertTrace* trace) {
  bool shared;
  if (!FindWhetherShared(made, tensor, &shared)) return false;
  if (trace != nullptr) trace->target_copied = !shared;
  return shared || !ForbidsCopy(copy) ||
         RaiseNotShared(ClassName(target), "its library copied it, or does not show where it is");
}

PyObject* ByLibrary(PyObject* x, PyTypeObject* target, PyObject* function, std::optional<bool> copy,
                    ConvertTrace* trace) {
  Tensor tensor;
  bool copied;
  if (!TakeIn(x, copy, trace, &tensor) ||
      !Fit(kUnknownLibrary, [&] { return ClassName(target); }, copy, trace, &tensor, &copied)) {
    return LetGo(&tensor);
  }
  nb::object made = MakeByFunction(function, copy, trace, &tensor);
  if (!made.is_valid() || !CheckClass(made.ptr(), target, function)) return LetGo(&tensor);
  const bool is_checked = ForbidsCopy(copy) || trace != nullptr;
  if (is_checked && !CheckShared(made.ptr(), target, tensor, copy, trace)) {
    LetGo(&made);
    return LetGo(&tensor);
  }
  return made.release().ptr();
}

}  // namespace

bool MakeConverterTable() {
  registered = PyDict_New();
  return registered != nullptr;
}

PyObject* ConvertToUnknown(PyObject* x, PyTypeObject* target, std::optional<bool> copy,
                           ConvertTrace* trace) {
  if (!HeedNoCopies(&copy)) return nullptr;
  auto* const key = reinterpret_cast<PyObject*>(target);
  nb::object known;
  if (!FindItem(registered, key, &known)) return nullptr;
  if (known.is_valid()) return ByRegistered(x, known.ptr(), copy, trace);
  if (const Peer* base = FindPeerOrBase(target)) return IsSubclass(target, *base);
  nb::object function;
  if (!FindFromDLPack(target, &function)) return nullptr;
  if (!function.is_valid()) return NoTarget(target);
  return ByLibrary(x, target, function.ptr(), copy, trace);
}

PyObject* RegisterConverter(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyType_Check(args[0]) || !PyCallable_Check(args[1])) {
    return Raise(PyExc_TypeError,
                 "register_converter() takes a class and a function that makes one of a "
                 "dovetail.Tensor");
  }
  if (FindPeer(reinterpret_cast<PyTypeObject*>(args[0])) != nullptr) {
    PyErr_Format(PyExc_ValueError, "convert() makes %R itself", args[0]);
    return nullptr;
  }
  if (PyDict_SetItem(registered, args[0], args[1]) != 0) return nullptr;
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
