#include "dovetail/python/exchange/routes/import_object.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"
#include "dovetail/python/exchange/protocols/array_interface.h"
#include "dovetail/python/exchange/protocols/buffer.h"
#include "dovetail/python/exchange/protocols/capsule.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Makes the copy that the producer did not make.
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

void NoteWay(const ImportRequest& request, const char* way) {
  if (request.trace != nullptr) request.trace->way = way;
}

// One import, as the protocols see it.
struct Import {
  PyObject* x;
  unsigned users;
  const ImportRequest& request;
  Tensor* tensor;
};

ExchangeResult TakeCapsule(const Import& import) {
  if (!PyCapsule_CheckExact(import.x)) return ExchangeResult::kNotTaken;
  CapsuleFacts facts;
  if (!ConsumeCapsule(import.x, import.tensor, &facts)) return ExchangeResult::kError;
  if (import.request.trace != nullptr) import.request.trace->capsule = facts;
  return ResultOf(CopyHere(import.request, import.tensor));
}

// What NumPy's __dlpack__ refused, and we take: an error is set.
bool TakeRefused(const Import& import) {
  if (!PyErr_ExceptionMatches(PyExc_BufferError)) return false;
  const nb::object error = nb::steal(TakeError());
  if (ImportNumPyUserTypes(import.x, import.tensor)) return true;
  RestoreError(nb::object(error).release().ptr());
  return false;
}

bool CallDLPack(const Import& import) {
  bool copied = false;
  ImportRequest request = import.request;
  if (!HeedNoCopies(&request.copy) || !CheckUnmasked(import.x) ||
      (!ImportByDLPack(import.x, request, import.tensor, &copied) && !TakeRefused(import)) ||
      (torch_tensor.IsBaseOf(Py_TYPE(import.x)) && !FinishTorchExport(import.x, import.tensor))) {
    return false;
  }
  if (request.trace != nullptr) request.trace->producer_copied = copied;
  if (copied) request.copy.reset();
  return CopyHere(request, import.tensor);
}

ExchangeResult TakeDLPackMethod(const Import& import) {
  bool found;
  if (!FindDLPack(import.x, &found)) return ExchangeResult::kError;
  return found ? ResultOf(CallDLPack(import)) : ExchangeResult::kNotTaken;
}

ExchangeResult TakeBuffer(const Import& import) {
  if (!PyObject_CheckBuffer(import.x)) return ExchangeResult::kNotTaken;
  bool is_refused = false;
  if (ImportBuffer(import.x, import.tensor, &is_refused)) return ExchangeResult::kDone;
  if (!is_refused) return ExchangeResult::kError;
  // As in NumPy, what refuses its buffer is asked for an array (Paddle's DenseTensor).
  nb::object refusal = nb::steal(TakeError());  // _PyType_Lookup would take it for its own
  if (HasArrayMethod(import.x)) return ExchangeResult::kNotTaken;
  RestoreError(refusal.release().ptr());
  RaiseExchangeFromSet("The producer refuses its buffer");
  return ExchangeResult::kError;
}

ExchangeResult TakeArrayInterface(const Import& import) {
  // A scalar of NumPy says its type by __array__ alone where it has no buffer.
  if (numpy_scalar.IsBaseOf(Py_TYPE(import.x))) return ExchangeResult::kNotTaken;
  return ImportByArrayInterface(import.x, import.tensor);
}

ExchangeResult TakeCudaArrayInterface(const Import& import) {
  return ImportByCudaArrayInterface(import.x, import.tensor);
}

ExchangeResult TakeUsmArrayInterface(const Import& import) {
  return ImportByUsmArrayInterface(import.x, import.tensor);
}

bool ImportByArrayMethod(PyObject* x, Tensor* tensor) {
  const nb::object array = CallArrayMethod(x);
  return array.is_valid() && ImportAny(array.ptr(), {}, tensor);
}

// Whether `tensor`, which ImportByArrayMethod made, shares the memory of `x`. Calls the method once
// more: only an array over the memory of `x` is at the same address twice.
bool FindWhetherShared(PyObject* x, const Tensor& tensor, bool* shared) {
  Tensor again;
  if (!ImportByArrayMethod(x, &again)) return false;
  *shared = tensor.nbytes() == 0 || again.raw_data() == tensor.raw_data();
  return true;
}

ExchangeResult TakeArrayMethod(const Import& import) {
  if (!HasArrayMethod(import.x)) return ExchangeResult::kNotTaken;
  if (!ImportByArrayMethod(import.x, import.tensor)) return ExchangeResult::kError;
  const bool forbids_copy =
      import.request.copy == std::optional<bool>(false) || NoCopiesScope::IsOn();
  if (!forbids_copy && import.request.trace == nullptr) return ExchangeResult::kDone;
  bool shared;
  if (!FindWhetherShared(import.x, *import.tensor, &shared)) return ExchangeResult::kError;
  if (import.request.trace != nullptr) import.request.trace->producer_copied = !shared;
  if (shared || !forbids_copy) return ExchangeResult::kDone;
  RaiseExchange("x.__array__() gives a new array each time, which copy=False forbids.");
  return ExchangeResult::kError;
}

struct Protocol {
  const char* name;  // in ImportTrace
  unsigned users;    // bits of ImportUser
  ExchangeResult (*take)(const Import& import);
  bool (*hold_bytes)(PyObject* x, HeldBytes* bytes);  // for kFromBuffer
};

// In the order in which they are tried. A mask, the type or the stream of an object may be lost in
// a later protocol, never in an earlier one. from_dlpack() takes only what its specification names.
constexpr Protocol kProtocols[] = {
    {"DLPack capsule", kFromDLPack, &TakeCapsule, nullptr},
    {"__dlpack__", kFromDLPack | kTensorData, &TakeDLPackMethod, nullptr},
    {"buffer", kMemoryData | kFromBuffer, &TakeBuffer, &HoldBufferBytes},
    {"__array_interface__", kMemoryData, &TakeArrayInterface, nullptr},
    {"__cuda_array_interface__", kMemoryData, &TakeCudaArrayInterface, nullptr},
    {"__sycl_usm_array_interface__", kMemoryData, &TakeUsmArrayInterface, nullptr},
    {"__array__", kMemoryData, &TakeArrayMethod, nullptr},
};

ExchangeResult TryProtocols(const Import& import) {
  for (const Protocol& protocol : kProtocols) {
    if ((protocol.users & import.users) == 0) continue;
    const ExchangeResult result = protocol.take(import);
    if (result == ExchangeResult::kNotTaken) continue;
    NoteWay(import.request, protocol.name);
    return result;
  }
  return ExchangeResult::kNotTaken;
}

// from_dlpack() of what is no object of a known class, or one that the class's own way refused.
ExchangeResult ImportByDLPackProtocols(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  const Import import{x, kFromDLPack, request, tensor};
  const ExchangeResult result = TryProtocols(import);
  if (result != ExchangeResult::kNotTaken) return result;
  return ResultOf(CallDLPack(import));  // raises for the missing method
}

// Takes an object of a known class, and copies it if `request` needs a copy.
ExchangeResult TryImportKnown(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  const char* way;
  const ExchangeResult known = ImportKnown(x, tensor, &way);
  if (known == ExchangeResult::kNotTaken) return known;
  NoteWay(request, way);
  return known == ExchangeResult::kDone ? ResultOf(CopyHere(request, tensor)) : known;
}

// Why the tensor has memory of its own; "" if it has not.
const char* ReasonOfCopy(const ImportTrace& facts, const ImportRequest& request) {
  if (facts.producer_copied) return "the producer copied";
  if (!facts.consumer_copied) return "";
  return request.copy.value_or(false) ? "copy=True asks for it" : "it was on another device";
}

template <typename Work>
[[gnu::noinline, gnu::cold]] ExchangeResult TellOfImport(PyObject* x, const ImportRequest& request,
                                                         Tensor* tensor, Work import) {
  TracedExchange traced(TraceKind::kImport, x);
  ImportTrace facts;
  ImportRequest observed = request;
  if (observed.trace == nullptr) observed.trace = &facts;
  const ExchangeResult result = import(observed);
  if (result == ExchangeResult::kNotTaken) return result;
  if (observed.trace->way != nullptr) traced.set_way(observed.trace->way);
  traced.set_target("dovetail.Tensor");
  if (result == ExchangeResult::kError) {
    traced.Failed();
  } else {
    const char* const reason = ReasonOfCopy(*observed.trace, observed);
    traced.set_reason(reason);
    traced.Done(*tensor, *reason != '\0');
  }
  return result;
}

// Calls `import`, which returns an ExchangeResult for a request, and tells a trace of it.
template <typename Work>
[[gnu::always_inline]] inline ExchangeResult Traced(PyObject* x, const ImportRequest& request,
                                                    Tensor* tensor, Work import) {
  if (IsObserved()) [[unlikely]]
    return TellOfImport(x, request, tensor, std::move(import));
  return import(request);
}

}  // namespace

bool HeedNoCopies(std::optional<bool>* copy) {
  if (!NoCopiesScope::IsOn()) return true;
  if (copy->value_or(false)) {
    RaiseExchange(NoCopiesScope::Check());
    return false;
  }
  *copy = false;
  return true;
}

bool FindDLPack(PyObject* x, bool* found) {
  static constinit InternedName name("__dlpack__");
  nb::object method;
  if (!FindAttribute(reinterpret_cast<PyObject*>(Py_TYPE(x)), name.get(), &method)) return false;
  *found = method.is_valid() && !method.is_none();  // None: the class has no such method
  return true;
}

bool ReplaceByCopy(Device device, Tensor* tensor) {
  absl::StatusOr<Tensor> copied =
      WithoutGilIf(IsLong(*tensor, device), [&] { return Copied(*tensor, {.device = device}); });
  if (!copied.ok()) return RaiseExchange(copied.status()), false;
  *tensor = *std::move(copied);
  return true;
}

ExchangeResult TryImport(PyObject* x, unsigned users, const ImportRequest& request,
                         Tensor* tensor) {
  return Traced(x, request, tensor, [=](const ImportRequest& traced) {
    if ((users & (kFromDLPack | kTensorData)) != 0) {
      const ExchangeResult known = TryImportKnown(x, traced, tensor);
      if (known != ExchangeResult::kNotTaken) return known;
    }
    return TryProtocols({x, users, traced, tensor});
  });
}

bool ImportTensor(PyObject* x, Tensor* tensor) {
  if (IsObserved()) [[unlikely]]
    return ImportTensor(x, {}, tensor);
  const char* way;
  const ExchangeResult known = ImportKnown(x, tensor, &way);
  if (known != ExchangeResult::kNotTaken) [[likely]]
    return known == ExchangeResult::kDone;
  return ImportByDLPackProtocols(x, {}, tensor) == ExchangeResult::kDone;
}

bool ImportTensor(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  const ExchangeResult result = Traced(x, request, tensor, [=](const ImportRequest& traced) {
    const ExchangeResult known = TryImportKnown(x, traced, tensor);
    return known != ExchangeResult::kNotTaken ? known : ImportByDLPackProtocols(x, traced, tensor);
  });
  return result == ExchangeResult::kDone;
}

bool ImportAny(PyObject* x, const ImportRequest& request, Tensor* tensor) {
  const ExchangeResult result = TryImport(x, kAnyData, request, tensor);
  if (result == ExchangeResult::kNotTaken) {
    PyErr_Format(PyExc_TypeError,
                 "'%.200s' object is no tensor: it has neither __dlpack__, a buffer, "
                 "__array_interface__, __cuda_array_interface__, __sycl_usm_array_interface__ nor "
                 "__array__. dovetail.tensor() takes numbers and lists of them",
                 Py_TYPE(x)->tp_name);
  }
  return result == ExchangeResult::kDone;
}

bool ImportBytes(PyObject* x, HeldBytes* bytes) {
  ExchangeResult result = HoldKnownBytes(x, bytes);
  for (const Protocol& protocol : kProtocols) {
    if (result != ExchangeResult::kNotTaken) break;
    if ((protocol.users & kFromBuffer) != 0) result = ResultOf(protocol.hold_bytes(x, bytes));
  }
  return result == ExchangeResult::kDone;
}

}  // namespace dovetail::python
