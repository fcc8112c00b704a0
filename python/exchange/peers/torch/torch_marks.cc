#include "dovetail/python/exchange/peers/torch/torch_marks.h"

#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/interned_name.h"
#include "dovetail/python/exchange/peers/torch/torch_assumption.h"
#include "dovetail/python/exchange/peers/torch/torch_private.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The keys of a plain tensor on the CPU, and those of the last other tensor that PyTorch said to
// have no mark: of a GPU or of inference mode, as a rule. No tensor has the keys 0.
constinit GilGuarded<uint64_t> plain_keys{0};
constinit GilGuarded<uint64_t> other_keys_without_mark{0};

constexpr char kPlain[] =
    "[torch.zeros(3, dtype=d, device='cpu')[1:] for d in (torch.bool, torch.uint8, torch.int64, "
    "torch.bfloat16, torch.float32, torch.complex64)] + [torch.zeros(0, device='cpu'), "
    "torch.zeros((), device='cpu'), torch.zeros(2, 3, device='cpu').mT, "
    "torch.zeros(2, device='cpu').expand(3, 2), torch.frombuffer(bytearray(9), dtype=torch.int8)]";
constexpr char kMarked[] =
    "[torch.zeros(2, dtype=torch.complex64, device='cpu').conj(), "
    "torch._neg_view(torch.zeros(2, device='cpu')), "
    "torch._neg_view(torch.zeros(2, dtype=torch.complex64, device='cpu').conj()), "
    "torch._to_functional_tensor(torch.zeros(2, device='cpu')), "
    "torch._efficientzerotensor(2, device='cpu'), "
    "torch.zeros(2, device='cpu').to_sparse(), torch.zeros(2, device='meta')]";

// How many tensors of the list that `expression` gives have the keys; −1 if not all can be asked.
Py_ssize_t CountWithKeys(const char* expression, uint64_t keys, Py_ssize_t* length) {
  const nb::object list = EvaluateTorch(expression);
  if (!list.is_valid() || !PyList_Check(list.ptr())) return -1;
  *length = PyList_GET_SIZE(list.ptr());
  Py_ssize_t count = 0;
  for (Py_ssize_t i = 0; i < *length; ++i) {
    count += TorchKeysOf(PyList_GET_ITEM(list.ptr(), i)) == keys ? 1 : 0;
  }
  return count;
}

bool KeysAreAsAssumed() {
  if (!TorchHandlesAreKnown()) return false;
  const nb::object first = EvaluateTorch("torch.zeros(1, device='cpu')");
  if (!first.is_valid()) return false;
  const uint64_t keys = TorchKeysOf(first.ptr());
  Py_ssize_t length = 0;
  if (keys == 0 || CountWithKeys(kPlain, keys, &length) != length ||
      CountWithKeys(kMarked, keys, &length) != 0) {
    return false;
  }
  plain_keys.store(keys);
  return true;
}

bool IsMarked(PyObject* x, PyObject* method) {
  PyObject* answer = PyObject_CallMethodNoArgs(x, method);
  if (answer == nullptr) ForgetException();
  const bool is_marked = answer != Py_False;
  Py_XDECREF(answer);
  return is_marked;
}

}  // namespace

bool TorchKeysAreKnown() {
  static constinit TorchAssumption assumption(&KeysAreAsAssumed);
  return assumption.Holds();
}

bool IsPlainTorch(PyObject* x) {
  return TorchKeysAreKnown() && TorchKeysOf(x) == plain_keys.load();
}

TorchMark AskTorchMark(PyObject* x) {
  static constinit InternedName is_conj("is_conj");
  static constinit InternedName is_neg("is_neg");
  if (IsMarked(x, is_conj.get()) || PyErr_Occurred() != nullptr) return TorchMark::kConjugate;
  return IsMarked(x, is_neg.get()) ? TorchMark::kNegative : TorchMark::kNone;
}

TorchMark FindTorchMark(PyObject* x) {
  const uint64_t keys = TorchKeysAreKnown() ? TorchKeysOf(x) : 0;
  if (PyErr_Occurred() != nullptr) return TorchMark::kConjugate;
  if (keys != 0 && keys == other_keys_without_mark.load()) return TorchMark::kNone;
  const TorchMark mark = AskTorchMark(x);
  if (mark == TorchMark::kNone && PyErr_Occurred() == nullptr) other_keys_without_mark.store(keys);
  return mark;
}

}  // namespace dovetail::python
