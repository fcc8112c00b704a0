#include "dovetail/python/module/tensor/methods.h"

#include <algorithm>
#include <optional>

#include "dovetail/core/internal/storage_access.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/capsule.h"
#include "dovetail/python/exchange/protocols/dlpack_out.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"
#include "dovetail/python/exchange/protocols/sycl.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

// The keyword arguments of __dlpack__, as Python passed them (nullptr: not given).
struct Request {
  PyObject* stream;
  PyObject* max_version;
  PyObject* dl_device;
  PyObject* copy;
};

// A number, or a SYCL queue.
bool ParseStream(PyObject* value, ExportRequest* parsed) {
  parsed->stream.reset();
  if (!IsGiven(value)) return true;
  if (PyLong_Check(value) && !PyBool_Check(value)) {
    return ParseInt(value, &parsed->stream.emplace());
  }
  if (!FindQueueAddress(value, &parsed->stream)) return false;
  parsed->is_sycl_queue = parsed->stream.has_value();
  if (parsed->is_sycl_queue) return true;
  PyErr_Format(PyExc_TypeError, "stream must be an int, a dpctl.SyclQueue or None, not %R", value);
  return false;
}

// Whether the consumer reads the struct of DLPack 1.0 and later.
bool ParseMaxVersion(PyObject* value, bool* versioned) {
  *versioned = false;
  if (!IsGiven(value)) return true;
  int64_t major, minor;
  if (!PyTuple_Check(value) || PyTuple_GET_SIZE(value) != 2) {
    PyErr_Format(PyExc_TypeError, "max_version must be a tuple (major, minor) or None, not %R",
                 value);
    return false;
  }
  if (!ParseInt(PyTuple_GET_ITEM(value, 0), &major) ||
      !ParseInt(PyTuple_GET_ITEM(value, 1), &minor)) {
    return false;
  }
  *versioned = major >= DLPACK_MAJOR_VERSION;
  return true;
}

bool ParseRequest(const Request& request, ExportRequest* parsed) {
  if (!ParseMaxVersion(request.max_version, &parsed->is_versioned) ||
      !ParseOptionalBool(request.copy, "copy", &parsed->copy)) {
    return false;
  }
  if (IsGiven(request.dl_device) && !ParseDevice(request.dl_device, &parsed->device.emplace())) {
    return false;
  }
  return ParseStream(request.stream, parsed);
}

PyObject* Export(const TensorObject* self, const Request& request) {
  if (self->requires_grad.load()) return RaiseRequiresGrad();
  ExportRequest parsed;
  return ParseRequest(request, &parsed) ? ExportCapsule(self->tensor, parsed) : nullptr;
}

// The last call of __dlpack__ that asked for a versioned struct and nothing else. A consumer passes
// the same objects every time, so the next such call is recognised by their addresses. The GIL
// guards it; without one nothing is noted.
class PlainCall {
 public:
  bool Is(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) const {
    if (nargs != 0 || kwnames == nullptr || kwnames != kwnames_) return false;
    bool same = true;
    for (Py_ssize_t i = 0; i < count_; ++i) same &= args[i] == args_[i];
    return same;
  }

  // `request` is what the arguments said.
  void Note(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, const Request& request) {
    bool versioned;
    if (!kHasGil || nargs != 0 || kwnames == nullptr || IsGiven(request.stream) ||
        IsGiven(request.dl_device) || IsGiven(request.copy) || !IsOfInts(request.max_version) ||
        !ParseMaxVersion(request.max_version, &versioned) || !versioned) {
      return;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t i = 0; i < count; ++i) Py_INCREF(args[i]);  // kept, to be known by address
    for (Py_ssize_t i = 0; i < count_; ++i) Py_DECREF(args_[i]);
    std::copy_n(args, count, args_);
    count_ = count;
    PyObject* former = kwnames_;
    kwnames_ = Py_NewRef(kwnames);
    Py_XDECREF(former);
  }

 private:
  // A tuple whose items never say anything else.
  static bool IsOfInts(PyObject* version) {
    return version != nullptr && PyTuple_CheckExact(version) && PyTuple_GET_SIZE(version) == 2 &&
           PyLong_CheckExact(PyTuple_GET_ITEM(version, 0)) &&
           PyLong_CheckExact(PyTuple_GET_ITEM(version, 1));
  }

  PyObject* kwnames_ = nullptr;
  Py_ssize_t count_ = 0;
  PyObject* args_[4] = {};
};
PlainCall plain_call;

struct CpuDevice {
  PyObject* pair = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
};

// Only a holder of the GIL copies the tensor inside a Python object: work without the GIL has a
// Tensor of its own (without_gil.h). So the reference count need not be read atomically.
StorageRef CopyStorage(const Tensor& tensor) {
#ifdef Py_GIL_DISABLED
  return tensor.storage();
#else
  return internal_storage::StorageAccess::CopyUnshared(tensor.storage());
#endif
}

}  // namespace

PyObject* TensorDLPack(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const TensorObject* const object = AsTensorObject(self);
  const TracedExport traced("__dlpack__", self, object->tensor);
  // Host memory has no streams to order.
  if (plain_call.Is(args, nargs, kwnames) && !object->requires_grad.load() &&
      object->tensor.device().type == DeviceType::kCpu) [[likely]] {
    return MakeCapsule(ToDLPackUnordered(object->tensor, CopyStorage(object->tensor)));
  }
  static constinit const Signature kSignature("__dlpack__", 0, 0,
                                              {"stream", "max_version", "dl_device", "copy"});
  PyObject* v[4];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  const Request request{v[0], v[1], v[2], v[3]};
  PyObject* capsule = Export(object, request);
  if (capsule != nullptr) plain_call.Note(args, nargs, kwnames, request);
  return capsule;
}

PyObject* TensorDLPackDevice(PyObject* self, PyObject*) {
  const DLDevice device = ToDLDevice(AsTensor(self).device());
  if (device.device_type == kDLCPU) {
    return Py_XNewRef(MadeOnce<CpuDevice>().pair);
  }
  return Py_BuildValue("(ii)", static_cast<int>(device.device_type), device.device_id);
}

PyObject* ToDLPackFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature("to_dlpack", 1, 1,
                                              {"tensor", "max_version", "stream", "copy"});
  PyObject* v[4];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  if (!IsTensor(v[0])) {
    PyErr_Format(PyExc_TypeError,
                 "to_dlpack() takes a dovetail.Tensor, not %.200s; other libraries' tensors have "
                 "a __dlpack__ method of their own",
                 Py_TYPE(v[0])->tp_name);
    return nullptr;
  }
  const TracedExport traced("to_dlpack()", v[0], AsTensor(v[0]));
  return Export(AsTensorObject(v[0]), {v[2], v[1], nullptr, v[3]});
}

PyObject* ToImmutableConsumer(PyObject*, PyObject* object) {
  if (!CheckIsTensor(object)) return nullptr;
  if (AsTensorObject(object)->requires_grad.load()) return RaiseRequiresGrad();
  absl::StatusOr<UniqueDLPackLegacy> managed = ToDLPackLegacy(Writable(AsTensor(object)));
  if (!managed.ok()) return RaiseExchange(managed.status());
  return MakeCapsule(*std::move(managed));
}

}  // namespace dovetail::python
