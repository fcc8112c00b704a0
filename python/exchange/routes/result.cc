#include "dovetail/python/exchange/routes/result.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/numpy_abi.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/routes/export_object.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kOwnerName[] = "dovetail_tensor";

void DropOwner(PyObject* capsule) {
  nb::error_scope in_flight;
  auto* tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, kOwnerName));
  DestroyWithGil(*tensor);
  operator delete(tensor);
}

// A capsule that keeps the tensor, as the base of a NumPy array.
PyObject* MakeOwner(const Tensor& tensor) {
  auto held = std::make_unique<Tensor>(tensor);
  PyObject* capsule = PyCapsule_New(held.get(), kOwnerName, &DropOwner);
  if (capsule != nullptr) (void)held.release();
  return capsule;
}

// nullptr without an error for a type that NumPy itself does not have.
nb::object TryNumPy(const Tensor& tensor) {
  if (!ReadyHost(tensor)) return {};
  const nb::object owner = nb::steal(MakeOwner(tensor));
  if (!owner.is_valid()) return {};
  if (LoadedNumPy() == nullptr && !nb::steal(PyImport_ImportModule("numpy")).is_valid()) return {};
  return nb::steal(MakeNumPyArray(tensor.view(), owner.ptr()));
}

// Whether the import error that is set says that there is no module of this name. (A module that it
// imports may be missing, too.)
bool IsMissing(const char* module) {
  if (!PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) return false;
  PyObject* const error = TakeError();
  const nb::object name = nb::steal(PyObject_GetAttrString(error, "name"));
  const bool is_it = name.is_valid() && PyUnicode_Check(name.ptr()) &&
                     PyUnicode_CompareWithASCIIString(name.ptr(), module) == 0;
  PyErr_Clear();
  RestoreError(error);
  return is_it;
}

// Whether there is a class dovetail.Tensor. Imports the package when it is first asked, and
// remembers if there is none. False with an error set if the import failed for another reason.
bool FindPackage(bool* found) {
  *found = dovetail_tensor.exchange_api() != nullptr;
  static constinit GilGuarded<bool> is_missing(false);
  if (*found || is_missing.load()) return true;
  const nb::object package =
      nb::steal(HangAtThreadEnd([] { return PyImport_ImportModule("dovetail"); }));
  if (!package.is_valid()) {
    if (!IsMissing("dovetail")) return false;
    PyErr_Clear();
    is_missing.store(true);
    return true;
  }
  nb::object type;  // another package may have the name
  if (!FindAttribute(package.ptr(), "Tensor", &type)) return false;
  *found = type.is_valid() && dovetail_tensor.Is(reinterpret_cast<PyTypeObject*>(type.ptr())) &&
           dovetail_tensor.exchange_api() != nullptr;
  return true;
}

// Whether the library takes the memory as it is. False with an ExchangeError set.
bool CheckFit(const Peer& peer, const Tensor& tensor) {
  if (peer.checks_by_itself) return true;
  const char* misfit = WhyRefused(peer.accepts, tensor);
  if (misfit == nullptr) return true;
  RaiseExchange(absl::StrCat("A ", peer.type.module(), ".", peer.type.name(),
                             " can't share this memory: the tensor ", misfit, "."));
  return false;
}

nb::object DovetailTensor(const Tensor& tensor) {
  return nb::steal(ExportToClass(dovetail_tensor, tensor));
}

// What every library takes: a dovetail.Tensor, or a NumPy array.
nb::object Common(const Tensor& tensor) {
  bool has_package;
  if (!FindPackage(&has_package)) return {};
  if (has_package) return DovetailTensor(tensor);
  nb::object array = TryNumPy(tensor);
  if (!array.is_valid() && PyErr_Occurred() == nullptr) {
    Raise(PyExc_TypeError, absl::StrCat("NumPy has no type ", tensor.dtype().ToString(),
                                        "; install dovetail for tensors of that type."));
  }
  return array;
}

// Steals `function`, which may be nullptr with an error set.
PyObject* Call(PyObject* function, PyObject* argument) {
  const nb::object callable = nb::steal(function);
  if (!callable.is_valid()) return nullptr;
  return HangAtThreadEnd([&] { return PyObject_CallOneArg(callable.ptr(), argument); });
}

PyObject* ByFunction(const Peer& peer, const Tensor& tensor) {
  bool has_package;
  const nb::object common = Common(tensor);
  if (!common.is_valid() || !FindPackage(&has_package)) return nullptr;
  PyObject* made = Call(NewFunction(peer.function), common.ptr());
  if (made != nullptr || has_package || !PyErr_ExceptionMatches(PyExc_ModuleNotFoundError)) {
    return made;
  }
  // The function is one of the package's own, which is not there.
  PyErr_Clear();
  return peer.own_function.name != nullptr ? Call(NewFunction(peer.own_function), common.ptr())
                                           : Py_NewRef(common.ptr());
}

PyObject* ToNumPy(const Peer& peer, const Tensor& tensor) {
  nb::object array = TryNumPy(tensor);
  if (array.is_valid() || PyErr_Occurred() != nullptr) return array.release().ptr();
  bool has_package;
  if (!FindPackage(&has_package)) return nullptr;
  if (has_package) return ByFunction(peer, tensor);  // a type of ml_dtypes
  return Raise(PyExc_TypeError, absl::StrCat("NumPy has no type ", tensor.dtype().ToString(), "."));
}

constexpr char kExportName[] = "dovetail_export";

void DropExport(PyObject* capsule) {
  nb::error_scope in_flight;
  auto* const managed =
      static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, kExportName));
  managed->deleter(managed);
}

// An array whose base is a capsule that keeps the struct.
PyObject* ToNumPyAsItIs(UniqueDLPack managed) {
  const DLTensor& tensor = managed->dl_tensor;
  const auto rank = static_cast<size_t>(tensor.ndim);
  const TensorView view = {.data = tensor.data,
                           .device = Device::Cpu(),
                           .dtype = ToDType(tensor.dtype),
                           .shape = {tensor.shape, rank},
                           .strides = {tensor.strides, rank}};
  const nb::object owner = nb::steal(PyCapsule_New(managed.get(), kExportName, &DropExport));
  if (!owner.is_valid()) return nullptr;
  (void)managed.release();
  return MakeNumPyArray(view, owner.ptr());
}

// Whether every library takes the memory: on the CPU, row-major, and to be written.
bool IsPlain(const DLManagedTensorVersioned& managed) {
  const DLTensor& tensor = managed.dl_tensor;
  int64_t stride = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    if (tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return tensor.device.device_type == kDLCPU && stride != 0 &&
         (managed.flags & ~DLPACK_FLAG_BITMASK_IS_COPIED) == 0;
}

}  // namespace

PyObject* GiveLike(UniqueDLPack* managed, PyObject* like) {
  if (*managed == nullptr || like == nullptr || PyType_Check(like) || !IsExport(managed->get()) ||
      !IsPlain(**managed)) {
    return nullptr;
  }
  const Peer* const peer = FindPeer(Py_TYPE(like));
  if (peer == nullptr) return nullptr;
  const DLTensor& tensor = (*managed)->dl_tensor;
  if (peer->way_out == WayOut::kNumPy) {
    const bool has_type = LoadedNumPy() != nullptr && NumPyFromDType(ToDType(tensor.dtype)) >= 0;
    return has_type ? ToNumPyAsItIs(std::move(*managed)) : nullptr;
  }
  if (peer->way_out != WayOut::kExchangeApi || peer->type.maker() == nullptr ||
      reinterpret_cast<uintptr_t>(tensor.data) % peer->accepts.alignment != 0) {
    return nullptr;
  }
  return GiveToClass(peer->type, std::move(*managed));
}

PyObject* MakeLike(const Tensor& tensor, PyObject* like) {
  if (like == nullptr) return Common(tensor).release().ptr();
  const bool is_class = PyType_Check(like);
  auto* const type = is_class ? reinterpret_cast<PyTypeObject*>(like) : Py_TYPE(like);
  const Peer* const peer = FindPeerOrBase(type);
  if (peer == nullptr && is_class) {
    PyErr_Format(PyExc_TypeError, "%.200s objects can't be made of a tensor; known classes are %s",
                 type->tp_name, PeerNames());
    return nullptr;
  }
  if (peer == nullptr) return Common(tensor).release().ptr();
  if (peer->way_out == WayOut::kNumPy) return ToNumPy(*peer, tensor);
  if (!CheckFit(*peer, tensor)) return nullptr;
  const bool by_function = peer->type.maker() == nullptr && peer->function.name != nullptr;
  return by_function ? ByFunction(*peer, tensor) : ExportToClass(peer->type, tensor);
}

}  // namespace dovetail::python
