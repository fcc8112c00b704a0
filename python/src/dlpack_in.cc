#include "dovetail/python/src/dlpack_in.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/array_interface_in.h"
#include "dovetail/python/src/array_method_in.h"
#include "dovetail/python/src/buffer_in.h"
#include "dovetail/python/src/capsule.h"
#include "dovetail/python/src/cuda_array.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/exchange_in.h"
#include "dovetail/python/src/find_attribute.h"
#include "dovetail/python/src/numpy_in.h"
#include "dovetail/python/src/peer_type.h"
#include "dovetail/python/src/tensor_object.h"
#include "dovetail/python/src/without_gil.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The copy that the consumer makes itself: of a capsule, or because the producer would not.
bool CopyHere(const ImportRequest& request, Tensor* tensor) {
  const Device device = request.device.value_or(tensor->device());
  if (device == tensor->device() && !request.copy.value_or(false)) return true;
  if (request.copy == std::optional<bool>(false)) {
    RaiseExchange(absl::StrCat("Taking the tensor from ", tensor->device().ToString(), " to ",
                               device.ToString(), " needs a copy, which copy=False forbids."));
    return false;
  }
  if (!ReplaceByCopy(device, tensor)) return false;
  if (request.trace != nullptr) request.trace->consumer_copied = true;
  return true;
}

void TakeDoor(const ImportRequest& request, const char* door) {
  if (request.trace != nullptr) request.trace->door = door;
}

bool ImportCapsule(PyObject* capsule, const ImportRequest& request, Tensor* tensor) {
  CapsuleFacts facts;
  TakeDoor(request, "DLPack capsule");
  if (!ConsumeCapsule(capsule, tensor, &facts)) return false;
  if (request.trace != nullptr) request.trace->capsule = facts;
  return CopyHere(request, tensor);
}

// Another dovetail.Tensor: what its __dlpack__ and our import would do, without the capsule.
bool ImportOwn(PyObject* x, Tensor* tensor) {
  if (AsTensorObject(x)->requires_grad) return RaiseRequiresGrad(), false;
  *tensor = AsTensor(x);
  return true;
}

// The doors that call no Python method; `*door` becomes the one that was taken.
ExchangeResult ImportFast(PyObject* x, Tensor* tensor, const char** door) {
  PyTypeObject* const type = Py_TYPE(x);
  if (IsTensor(x)) {
    *door = "dovetail.Tensor";
    return ImportOwn(x, tensor) ? ExchangeResult::kDone : ExchangeResult::kError;
  }
  if (numpy_ndarray.Is(type)) {
    *door = "NumPy array";
    return ImportNumPyArray(x, tensor) ? ExchangeResult::kDone : ExchangeResult::kNotTaken;
  }
  if (torch_tensor.Is(type)) {
    *door = "DLPack C exchange API";
    return ImportTorchTensor(x, tensor);
  }
  if (paddle_tensor.Is(type)) {
    *door = "DLPack C exchange API";
    return ImportPaddleTensor(x, tensor);
  }
  return ExchangeResult::kNotTaken;
}

// By x.__dlpack__(), for what no fast door took.
bool ImportByMethod(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  bool found = false;
  if (request.trace != nullptr && !FindDLPack(x, &found)) return false;
  if (found) TakeDoor(request, "__dlpack__");
  bool copied;
  if (!CheckUnmasked(x) || !ImportByDLPack(x, request, tensor, &copied)) return false;
  if (request.trace != nullptr) request.trace->producer_copied = copied;
  ImportRequest left = request;
  if (copied) left.copy.reset();
  return CopyHere(left, tensor);
}

// The object is made first: nothing can fail once the tensor was taken over.
template <typename Fill>
PyObject* WrapImported(Fill fill) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  if (fill(&self->tensor)) {
    TrackOwner(self);
    return reinterpret_cast<PyObject*>(self);
  }
  Py_DECREF(self);
  return nullptr;
}

}  // namespace

bool FindDLPack(PyObject* x, bool* found) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  nb::object method;
  if (!FindAttribute(reinterpret_cast<PyObject*>(Py_TYPE(x)), name, &method)) return false;
  *found = method.is_valid();
  return true;
}

bool ReplaceByCopy(Device device, Tensor* tensor) {
  absl::StatusOr<Tensor> copied =
      WithoutGilIf(IsLong(*tensor), [&] { return CopyTo(*tensor, device); });
  if (!copied.ok()) return RaiseExchange(copied.status()), false;
  *tensor = *std::move(copied);
  return true;
}

bool Import(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  if (PyCapsule_CheckExact(x)) return ImportCapsule(x, request, tensor);
  const char* door;
  const ExchangeResult fast = ImportFast(x, tensor, &door);
  if (fast == ExchangeResult::kNotTaken) return ImportByMethod(x, request, tensor);
  TakeDoor(request, door);
  return fast == ExchangeResult::kDone && CopyHere(request, tensor);
}

namespace {

// from_dlpack(x), with nothing else asked for.
bool ImportAsItIs(PyObject* x, Tensor* tensor) {
  const char* door;
  const ExchangeResult fast = ImportFast(x, tensor, &door);
  if (fast != ExchangeResult::kNotTaken) [[likely]]
    return fast == ExchangeResult::kDone;
  return PyCapsule_CheckExact(x) ? ImportCapsule(x, {}, tensor) : ImportByMethod(x, {}, tensor);
}

}  // namespace

PyObject* FromDLPackFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  if (nargs == 1 && kwnames == nullptr) {
    return WrapImported([&](Tensor* tensor) { return ImportAsItIs(args[0], tensor); });
  }
  static const Signature kSignature("from_dlpack", 1, 1, {"x", "device", "copy"},
                                    /*positional_only=*/1);
  PyObject* v[3];
  ImportRequest request;
  if (!kSignature.Parse(args, nargs, kwnames, v) ||
      !ParseOptionalBool(v[2], "copy", &request.copy) ||
      (IsGiven(v[1]) && !ParseDevice(v[1], &request.device.emplace()))) {
    return nullptr;
  }
  return WrapImported([&](Tensor* tensor) { return Import(v[0], request, tensor); });
}

namespace {

// By x.__array__(), which does not tell whether it copied.
bool ImportTable(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  TakeDoor(request, "__array__");
  if (!ImportByArrayMethod(x, tensor)) return false;
  const bool forbids_copy = request.copy == std::optional<bool>(false);
  if (!forbids_copy && request.trace == nullptr) return true;
  bool shared;
  if (!FindWhetherShared(x, *tensor, &shared)) return false;
  if (request.trace != nullptr) request.trace->producer_copied = !shared;
  if (shared || !forbids_copy) return true;
  RaiseExchange("x.__array__() gives a new array each time, which copy=False forbids.");
  return false;
}

ExchangeResult ResultOf(bool taken) {
  return taken ? ExchangeResult::kDone : ExchangeResult::kError;
}

}  // namespace

ExchangeResult TryImportTensor(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  const char* door;
  const ExchangeResult fast = ImportFast(x, tensor, &door);
  if (fast != ExchangeResult::kNotTaken) {
    TakeDoor(request, door);
    return fast;
  }
  bool found;
  if (!FindDLPack(x, &found)) return ExchangeResult::kError;
  return found ? ResultOf(ImportByMethod(x, request, tensor)) : ExchangeResult::kNotTaken;
}

ExchangeResult TryImportMemory(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  if (PyObject_CheckBuffer(x)) {
    TakeDoor(request, "buffer");
    return ResultOf(ImportBuffer(x, tensor));
  }
  ExchangeResult result = ImportByArrayInterface(x, tensor);
  if (result != ExchangeResult::kNotTaken) {
    TakeDoor(request, "__array_interface__");
    return result;
  }
  result = ImportByCudaArrayInterface(x, tensor);
  if (result != ExchangeResult::kNotTaken) {
    TakeDoor(request, "__cuda_array_interface__");
    return result;
  }
  return HasArrayMethod(x) ? ResultOf(ImportTable(x, request, tensor)) : result;
}

bool ImportAny(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  ExchangeResult result = TryImportTensor(x, request, tensor);
  if (result == ExchangeResult::kNotTaken) result = TryImportMemory(x, request, tensor);
  if (result == ExchangeResult::kNotTaken) {
    PyErr_Format(PyExc_TypeError,
                 "'%.200s' object is no tensor: it has neither __dlpack__, a buffer, "
                 "__array_interface__, __cuda_array_interface__ nor __array__. dovetail.tensor() "
                 "takes numbers and lists of them",
                 Py_TYPE(x)->tp_name);
  }
  return result == ExchangeResult::kDone;
}

PyObject* ImportObject(PyObject* x) {
  return WrapImported([&](Tensor* tensor) { return ImportAny(x, {}, tensor); });
}

}  // namespace dovetail::python
