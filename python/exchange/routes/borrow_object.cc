#include "dovetail/python/exchange/routes/borrow_object.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/import_lent.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/kind_order.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"
#include "dovetail/python/exchange/protocols/fill.h"
#include "dovetail/python/exchange/routes/capi_table.h"
#include "dovetail/python/exchange/routes/current_stream.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {

bool CopyMayHelp(Want misfit, const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                 const DovetailCall& call) {
  if (misfit == Want::kAccess) {
    if (borrowed.object == nullptr) return false;
    const Peer* const peer = FindPeer(Py_TYPE(borrowed.object));
    return (wanted.flags & DOVETAIL_COPY_IMMUTABLE) != 0 && peer != nullptr && peer->is_immutable;
  }
  const bool is_lent = borrowed.object == nullptr;  // by a framework's runtime
  if ((wanted.flags & DOVETAIL_WRITABLE) != 0 ||
      (is_lent && borrowed.tensor.device.device_type != kDLCPU)) {
    return false;
  }
  switch (misfit) {
    case Want::kType:
      return (wanted.flags & DOVETAIL_ALLOW_CAST) != 0 &&
             IsSameKindCast(ToDType(borrowed.tensor.dtype).kind,
                            ToDType(TypeToPass(wanted, call)).kind);
    case Want::kDevice:
      return (wanted.flags & DOVETAIL_ALLOW_COPY) != 0 &&
             (wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == kDLCPU);
    case Want::kRowMajor:
    case Want::kColumnMajor:
    case Want::kInnerDense:
    case Want::kAlignment:
      return (wanted.flags & DOVETAIL_ALLOW_COPY) != 0;
    default:
      return false;
  }
}

namespace {

// A tensor over what is borrowed on the CPU, valid as long as that: PyTorch would not share one
// that requires gradients. On other devices an import, which orders the work on it. False with an
// error set.
bool TakeLent(DovetailBorrowed* borrowed, Tensor* tensor) {
  if (borrowed->tensor.device.device_type != kDLCPU) {
    return ImportAny(borrowed->object, {}, tensor);
  }
  const absl::Status taken =
      ImportDLTensor(borrowed->tensor, borrowed->flags, {[](void*) {}, nullptr}, tensor);
  return taken.ok() || (RaiseExchange(taken), false);
}

CopiedOptions CopyOptions(const DovetailRequirements& wanted, const DovetailCall& call,
                          bool is_cast) {
  CopiedOptions options;
  if (is_cast) options.dtype = ToDType(TypeToPass(wanted, call));
  if (wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == kDLCPU) {
    options.device = Device::Cpu();
  }
  options.order = (wanted.flags & DOVETAIL_F_CONTIGUOUS) != 0 ? MemoryOrder::kF : MemoryOrder::kC;
  return options;
}

// Replaces what is borrowed by a dense copy of the wanted device and order, and if `is_cast`, of
// the wanted type. False with an error set, and nothing held.
bool ReplaceByCopy(const DovetailRequirements& wanted, const DovetailCall& call, bool is_cast,
                   DovetailBorrowed* borrowed) {
  Tensor tensor;
  const UniqueDLPack lent(borrowed->held);  // until the copy is made
  borrowed->held = nullptr;
  if (!TakeLent(borrowed, &tensor)) return false;
  const CopiedOptions options = CopyOptions(wanted, call, is_cast);
  absl::StatusOr<Tensor> copied =
      WithoutGilIf(IsLong(tensor), [&] { return Copied(tensor, options); });
  if (!copied.ok()) return RaiseExchange(copied.status()), false;
  HoldBorrowed(*copied, /*is_copied=*/true, borrowed);
  return true;
}

// Says of an error of the exchange which argument it is about.
void NameArgument(const DovetailCall& call) {
  if (call.function == nullptr && call.argument == nullptr && call.position == 0) return;
  PyObject* type = nullptr;
  for (PyObject* known : {PyExc_TypeError, PyExc_ValueError, PyExc_BufferError, ExchangeError()}) {
    if (PyErr_ExceptionMatches(known)) type = known;
  }
  // A class may have half of a protocol, as JAX's tracers do.
  if (PyErr_ExceptionMatches(PyExc_AttributeError)) type = PyExc_TypeError;
  if (type == nullptr) return;
  const nb::object cause = nb::steal(TakeError());
  const nb::object text = nb::steal(PyObject_Str(cause.ptr()));
  const char* words = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  if (words == nullptr) {
    PyErr_Clear();
    return RestoreError(nb::object(cause).release().ptr());
  }
  Raise(type, absl::StrCat(ArgumentPrefix(call), ": ", words));
  // A new error of the same class has the same cause; of another class, the old error as its cause.
  PyObject* inner = Py_IS_TYPE(cause.ptr(), reinterpret_cast<PyTypeObject*>(type))
                        ? PyException_GetCause(cause.ptr())
                        : Py_NewRef(cause.ptr());
  if (inner == nullptr) return;
  PyObject* error = TakeError();
  PyException_SetCause(error, inner);
  RestoreError(error);
}

// Whether the function itself reads or writes the memory: Facts::kOnHost of arg_requirements.h.
bool IsForHost(const DovetailRequirements& wanted) {
  return wanted.device_type == DOVETAIL_HOST_MEMORY ||
         IsHostAccessible(static_cast<DeviceType>(wanted.device_type));
}

// Has the package, which has backends, wait for the work on `object`. Does nothing without one.
bool AwaitByPackage(PyObject* object) {
  const DovetailCApi* const package = FindPackagesCApi();
  if (package == nullptr) return true;
  const DovetailRequirements host_memory = {};
  DovetailBorrowed borrowed;
  if (package->borrow(object, &host_memory, nullptr, &borrowed) != 0) return false;
  Dovetail_Release(&borrowed);
  return true;
}

// Waits for the work on memory that the host shares with a GPU. `tensor` is an ordered import of
// `object`. False with an error set.
bool AwaitImport(PyObject* object, const Tensor& tensor) {
  const DeviceType type = tensor.device().type;
  if (type == DeviceType::kCpu || !IsHostAccessible(type)) return true;
  return FindServing(type) != nullptr ? ReadyHost(tensor) : AwaitByPackage(object);
}

// Holds what an import gives. A function for the host gets memory that is ready. Any other works on
// the stream of the object's library, which then orders nothing.
bool BorrowImported(PyObject* object, const DovetailRequirements& wanted,
                    DovetailBorrowed* borrowed) {
  const bool is_for_host = IsForHost(wanted);
  Tensor tensor;
  if (!ImportAny(object, {.is_unordered = is_for_host ? nullptr : &SaysItsStream}, &tensor)) {
    return false;
  }
  if (is_for_host && !AwaitImport(object, tensor)) return false;
  HoldBorrowed(tensor, /*is_copied=*/false, borrowed);
  return true;
}

// The same for what a known class lent, unordered. The import that orders the class's work, and
// that knows the work on our own tensors, is dropped again.
bool AwaitLent(PyObject* object, const DovetailRequirements& wanted,
               const DovetailBorrowed& borrowed) {
  const auto type = static_cast<DeviceType>(borrowed.tensor.device.device_type);
  if (!IsForHost(wanted) || !IsHostAccessible(type)) return true;
  if (FindServing(type) == nullptr) return AwaitByPackage(object);
  Tensor tensor;
  return ImportAny(object, {}, &tensor) && ReadyHost(tensor);
}

// The tensor as it is, without a look at the other requirements. False with an error set.
bool BorrowAsIs(PyObject* object, const DovetailRequirements& wanted, DovetailBorrowed* borrowed) {
  ExchangeResult result = BorrowKnown(object, borrowed);
  const bool is_lent = result != ExchangeResult::kNotTaken;
  if (!is_lent) result = ResultOf(BorrowImported(object, wanted, borrowed));
  if (result == ExchangeResult::kError) return false;
  borrowed->object = object;
  if (borrowed->tensor.device.device_type == kDLCPU) [[likely]]
    return true;
  if ((!is_lent || AwaitLent(object, wanted, *borrowed)) &&
      FindCurrentStream(object, borrowed->tensor.device, &borrowed->stream)) {
    return true;
  }
  Dovetail_Release(borrowed);
  return false;
}

// How a call ends that got no tensor; an error is set.
int Refuse(const DovetailCall& call) {
  if (call.is_quiet && Dovetail_IsMismatch()) {
    PyErr_Clear();
    return 1;
  }
  NameArgument(call);
  return -1;
}

int RefuseMismatch(const Misfit& misfit, const DovetailRequirements& wanted,
                   const DovetailCall& call, DovetailBorrowed* borrowed) {
  Dovetail_Release(borrowed);  // first: its producer's deleter may run Python code
  if (call.is_quiet) return 1;
  RaiseMismatch(misfit, *borrowed, wanted, call);
  return -1;
}

// The road of tensors that do not fit.
[[gnu::noinline]] int BorrowCopy(const DovetailRequirements& wanted, DovetailCall* call,
                                 DovetailBorrowed* borrowed) {
  Misfit misfit = FindMismatch(*borrowed, wanted, call);
  if (misfit.fits()) return 0;  // without elements, misaligned to the type of a OneOf
  if (!CopyMayHelp(misfit.want, *borrowed, wanted, *call)) {
    return RefuseMismatch(misfit, wanted, *call, borrowed);
  }
  if (!ReplaceByCopy(wanted, *call, misfit.want == Want::kType, borrowed)) return Refuse(*call);
  misfit = FindMismatch(*borrowed, wanted, call);
  return misfit.fits() ? 0 : RefuseMismatch(misfit, wanted, *call, borrowed);
}

}  // namespace

absl::Status CopyLent(const DovetailRequirements& wanted, const DovetailCall& call, bool is_cast,
                      DovetailBorrowed* borrowed) {
  Tensor tensor;
  absl::Status taken =
      ImportDLTensor(borrowed->tensor, borrowed->flags, {[](void*) {}, nullptr}, &tensor);
  if (!taken.ok()) return taken;
  absl::StatusOr<Tensor> copied = Copied(tensor, CopyOptions(wanted, call, is_cast));
  if (!copied.ok()) return copied.status();
  HoldBorrowed(*copied, /*is_copied=*/true, borrowed);
  return absl::OkStatus();
}

namespace {

[[gnu::noinline]] int BorrowMisfit(const DovetailRequirements& wanted, DovetailCall* call,
                                   DovetailBorrowed* borrowed) {
  return FitsLast(*borrowed, wanted, call) ? 0 : BorrowCopy(wanted, call, borrowed);
}

// (Inlined in part, each call would save its registers twice.)
[[gnu::noinline]] int Borrow(PyObject* object, const DovetailRequirements& wanted,
                             DovetailCall* call, DovetailBorrowed* borrowed) {
  DrainPendingReleases();
  ++call->position;
  borrowed->held = nullptr;
  if (!BorrowAsIs(object, wanted, borrowed)) return Refuse(*call);
  if (!Fits(*borrowed, wanted, call)) [[unlikely]]
    return BorrowMisfit(wanted, call, borrowed);
  return 0;
}

}  // namespace

int BorrowTorchObject(PyObject* object, const DovetailRequirements& wanted, DovetailCall* call,
                      DovetailBorrowed* borrowed) {
  DrainPendingReleases();
  const ExchangeResult result = BorrowTorchOutsideModes(object, borrowed);
  if (result == ExchangeResult::kError) {
    ++call->position;
    return Refuse(*call);
  }
  if (result != ExchangeResult::kDone || borrowed->tensor.device.device_type != kDLCPU) {
    return Borrow(object, wanted, call, borrowed);
  }
  ++call->position;
  borrowed->object = object;
  if (!Fits(*borrowed, wanted, call)) [[unlikely]]
    return BorrowMisfit(wanted, call, borrowed);
  return 0;
}

int BorrowObject(PyObject* object, const DovetailRequirements* wanted, DovetailCall* call,
                 DovetailBorrowed* borrowed) {
  if (call != nullptr) return Borrow(object, *wanted, call, borrowed);
  DovetailCall unnamed;
  unnamed.function = nullptr;
  unnamed.argument = nullptr;
  unnamed.names = nullptr;
  unnamed.position = -1;
  unnamed.is_quiet = 0;
  unnamed.element = 0;
  unnamed.num_sizes = 0;
  unnamed.num_types = 0;
  unnamed.num_leads = 0;
  return Borrow(object, *wanted, &unnamed, borrowed);
}

}  // namespace dovetail::python
