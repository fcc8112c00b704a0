#include "dovetail/python/src/exchange_in.h"

#include <nanobind/nanobind.h>

#include <cstring>

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/python/src/error.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The table of `type`, of a major version that we read, or nullptr (no error is set).
const DLPackExchangeAPI* FindTable(PyTypeObject* type) {
  nb::object capsule = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type),
                                                        "__dlpack_c_exchange_api__"));
  void* table = capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")
                    ? PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api")
                    : nullptr;
  PyErr_Clear();
  for (auto* header = static_cast<const DLPackExchangeAPIHeader*>(table); header != nullptr;
       header = header->prev_api) {
    if (header->version.major == DLPACK_MAJOR_VERSION) {
      return reinterpret_cast<const DLPackExchangeAPI*>(header);
    }
  }
  return nullptr;
}

// torch.Tensor, once it was seen. The table lives as long as the process; the reference keeps the
// type's address from being used again.
PyTypeObject* torch_tensor = nullptr;
const DLPackExchangeAPI* torch_table = nullptr;

// Whether `type` is torch.Tensor itself; remembers it.
bool IsTorchTensor(PyTypeObject* type) {
  if (type == torch_tensor) return true;
  if (torch_tensor != nullptr || std::strcmp(type->tp_name, "Tensor") != 0) return false;
  nb::object torch = nb::steal(PyImport_GetModule(nb::str("torch").ptr()));
  nb::object known = torch.is_valid()
                         ? nb::steal(PyObject_GetAttrString(torch.ptr(), "Tensor"))
                         : nb::object();
  PyErr_Clear();
  if (known.ptr() != reinterpret_cast<PyObject*>(type)) return false;
  const DLPackExchangeAPI* table = FindTable(type);
  if (table == nullptr || table->managed_tensor_from_py_object_no_sync == nullptr) return false;
  Py_INCREF(type);
  torch_table = table;
  torch_tensor = type;
  return true;
}

// Whether the attribute (called, if it is a method) is False. No error is left set.
bool IsFalse(PyObject* x, PyObject* name, bool call) {
  PyObject* args[1] = {x};
  PyObject* value = call ? PyObject_VectorcallMethod(
                               name, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr)
                         : PyObject_GetAttr(x, name);
  if (value == nullptr) {
    PyErr_Clear();
    return false;
  }
  const bool is_false = value == Py_False;
  Py_DECREF(value);
  return is_false;
}

// PyTorch's lazy negation marks only what .imag of a conjugate gives: no dimension of stride 1.
bool MayBeNegation(const DLTensor& t) {
  for (int32_t i = 0; i < t.ndim; ++i) {
    if (t.shape[i] > 1 && (t.strides == nullptr || t.strides[i] == 1)) return false;
  }
  return true;
}

// A lazy conjugate, which __dlpack__ refuses and the table would export unconjugated.
bool IsConjugate(PyObject* x, const DLTensor& t) {
  static PyObject* const is_conj = PyUnicode_InternFromString("is_conj");
  return t.dtype.code == kDLComplex && !IsFalse(x, is_conj, true);
}

// A lazy negation, which both the table and __dlpack__ would export with the wrong sign.
bool IsNegation(PyObject* x, const DLTensor& t) {
  static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
  return (t.dtype.code == kDLComplex || t.dtype.code == kDLFloat) && MayBeNegation(t) &&
         !IsFalse(x, is_neg, true);
}

}  // namespace

ExchangeResult ImportByExchangeApi(PyObject* x, Tensor* tensor) {
  if (!IsTorchTensor(Py_TYPE(x))) return ExchangeResult::kNotTaken;
  static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
  if (!IsFalse(x, requires_grad, false)) return ExchangeResult::kNotTaken;
  DLManagedTensorVersioned* raw = nullptr;
  if (torch_table->managed_tensor_from_py_object_no_sync(x, &raw) != 0 || raw == nullptr) {
    PyErr_Clear();  // __dlpack__ says it better
    return ExchangeResult::kNotTaken;
  }
  UniqueDLPack managed(raw);
  if (managed->version.major != DLPACK_MAJOR_VERSION ||
      managed->dl_tensor.device.device_type != kDLCPU || IsConjugate(x, managed->dl_tensor)) {
    return ExchangeResult::kNotTaken;
  }
  if (IsNegation(x, managed->dl_tensor)) {
    RaiseExchange("The tensor is a lazy negation; use tensor.resolve_neg().");
    return ExchangeResult::kError;
  }
  if (absl::Status s = ImportDLPack(managed.get(), tensor); !s.ok()) {
    return RaiseExchange(s), ExchangeResult::kError;
  }
  managed.release();
  return ExchangeResult::kDone;
}

}  // namespace dovetail::python
