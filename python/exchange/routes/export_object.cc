#include "dovetail/python/exchange/routes/export_object.h"

#include <nanobind/nanobind.h>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/lend.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"

namespace nb = nanobind;

namespace dovetail::python {

bool HasExchangeApi(const Peer& peer, const Tensor& tensor) {
  if (peer.exchange_function() == nullptr) return false;
  const Device device = tensor.device();
  return device.type == DeviceType::kCpu ||
         (device == StreamDevice(device) && FindServing(device.type) != nullptr &&
          peer.type.exchange_api()->current_work_stream != nullptr);
}

PyObject* NewFunction(const PythonFunction& function) {
  if (function.name == nullptr) {
    return Raise(PyExc_TypeError,
                 "The class makes objects by its exchange API alone, which does not take memory of "
                 "this device.");
  }
  const nb::object name = nb::steal(PyUnicode_InternFromString(function.module));
  if (!name.is_valid()) return nullptr;
  // Nearly always imported already, and found in a fifth of the time that an import takes.
  nb::object module = nb::steal(PyImport_GetModule(name.ptr()));
  if (!module.is_valid() && PyErr_Occurred() == nullptr) {
    module = nb::steal(PyImport_Import(name.ptr()));
  }
  return module.is_valid() ? PyObject_GetAttrString(module.ptr(), function.name) : nullptr;
}

// dlpack.h does not say who owns the struct when the function fails. PyTorch and tvm-ffi leave it
// to the caller; another may have deleted it.
PyObject* GiveToClass(const PeerType& type, UniqueDLPack managed) {
  constexpr char kFunction[] = "managed_tensor_to_py_object_no_sync";
  const auto make = type.maker();
  if (make == nullptr) {
    return RaiseExchange(absl::StrCat("The exchange API of ", type.module(), ".", type.name(),
                                      " has no ", kFunction, " (NULL)."));
  }
  void* made = nullptr;
  int failed;
  {
    const DeletionMark mark(managed.get());
    failed = make(managed.get(), &made);
    if (failed == 0 || mark.deleted()) (void)managed.release();
  }
  if (failed == 0 && made != nullptr) return static_cast<PyObject*>(made);
  EnsureError(type, kFunction);
  return nullptr;
}

PyObject* ExportToClass(const PeerType& type, const Tensor& tensor, bool copied) {
  return GiveToClass(type, ToDLPackUnordered(tensor, copied));
}

PyObject* ExportByExchangeApi(const Peer& peer, const Tensor& tensor, bool copied) {
  if (OrderBeforeLibrary(peer.type, tensor) != ExchangeResult::kDone) return nullptr;
  return ExportToClass(peer.type, tensor, copied);
}

namespace {

// Whether an import would accept what the view says.
bool IsValid(const TensorView& view) {
  Extent extent;
  ByteRange range;
  const int64_t count =
      internal_layout::Measure(view.rank(), view.shape.data(), view.strides.data(), &extent);
  return count == 0 || (count > 0 && BytesOfExtent(extent, view.dtype, view.packing, &range));
}

void Mark(void* deleted) { *static_cast<bool*>(deleted) = true; }

}  // namespace

PyObject* LendNumPyArray(const Peer& peer, PyObject* x) {
  const auto make = peer.exchange_function();
  if (make == nullptr || !peer.accepts.strides || peer.accepts.alignment != 1) return nullptr;
  int64_t strides[Layout::kMaxRank];
  TensorView view;
  if (!ViewNumPyArray(x, strides, &view) ||
      !peer.accepts.TakesAccess(view.access, view.device.type) ||
      !peer.accepts.TakesSigns(view.strides) || !IsValid(view)) {
    return nullptr;
  }

  // dlpack.h does not say who owns the struct when the function fails. Until it has succeeded the
  // deleter leaves a mark here, and the array is not held.
  bool deleted = false;
  UniqueDLPack lent = LendDLPack(view, {&Mark, &deleted});
  if (lent == nullptr) return nullptr;
  DLManagedTensorVersioned* const managed = lent.release();
  void* made = nullptr;
  const int failed = make(managed, &made);
  if (!deleted) {
    if (failed == 0) {
      SetRelease(managed, ReleaseObject(x));
      Py_INCREF(x);
    } else {
      managed->deleter(managed);
    }
  }
  return failed == 0 ? static_cast<PyObject*>(made) : nullptr;
}

}  // namespace dovetail::python
