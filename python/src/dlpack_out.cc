#include "dovetail/python/src/dlpack_out.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/capsule.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/tensor_object.h"
#include "dovetail/python/src/without_gil.h"
#include "dovetail/python/src/writable.h"

namespace dovetail::python {
namespace {

// The keyword arguments of __dlpack__, as Python passed them (nullptr: not given).
struct Request {
  PyObject* stream;
  PyObject* max_version;
  PyObject* dl_device;
  PyObject* copy;
};

bool ParseStream(PyObject* value, std::optional<int64_t>* code) {
  code->reset();
  if (!IsGiven(value)) return true;
  if (PyBool_Check(value) || !PyLong_Check(value)) {
    PyErr_Format(PyExc_TypeError, "stream must be an int or None, not %R", value);
    return false;
  }
  code->emplace();
  return ParseInt(value, &**code);
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

// A tensor that no backend serves passes through: no work of ours is on it. One that came in with a
// stream of its producer's (__cuda_array_interface__) goes on to consumers who use that one, or who
// want no synchronisation (-1).
bool CheckUnserved(const Tensor& tensor, std::optional<int64_t> code) {
  constexpr int64_t kNoSync = -1, kLegacyDefault = 1;
  for (const Stream& stream : tensor.storage()->used_on()) {
    if (code == kNoSync || code.value_or(kLegacyDefault) == static_cast<int64_t>(stream.native())) {
      continue;
    }
    const std::string device = tensor.device().ToString();
    RaiseExchange("The memory is ready only after " + stream.ToString() +
                  ", and no backend serves " + device +
                  " to wait for it; take it on that stream, or register one.");
    return false;
  }
  return true;
}

// The consumer's stream on the tensor's device, decoded by its backend's rules.
bool DecodeStream(const Tensor& tensor, Device device, PyObject* value, ExportOptions* options) {
  std::optional<int64_t> code;
  if (!ParseStream(value, &code)) return false;
  if (!code.has_value() && device.type == DeviceType::kCpu) return true;
  DeviceBackend* backend = FindServing(device.type);
  if (backend == nullptr) return CheckUnserved(tensor, code);
  absl::StatusOr<StreamRequest> request = backend->DecodeStream(device, code);
  if (!request.ok()) return RaiseStream(request.status().message()), false;
  options->stream = std::move(request->stream);
  return true;
}

// Where the exported memory is to lie, and whether it has to be a copy.
bool ParseTarget(const Tensor& tensor, const Request& request, Device* target,
                 std::optional<bool>* copy) {
  *target = tensor.device();
  if (!ParseOptionalBool(request.copy, "copy", copy)) return false;
  if (!IsGiven(request.dl_device)) return true;
  if (!ParseDevice(request.dl_device, target)) return false;
  if (*target == tensor.device()) return true;
  const std::string way =
      absl::StrCat("from ", tensor.device().ToString(), " to ", target->ToString());
  if (*copy == std::optional<bool>(false)) {
    RaiseExchange("Moving the tensor " + way + " takes a copy, which copy=False forbids.");
    return false;
  }
  if (target->type == DeviceType::kCpu && IsGiven(request.stream)) {
    RaiseStream("stream must be None when the data are asked for on the CPU.");
    return false;
  }
  if (Registry::Global().Find(target->type) == nullptr) {
    RaiseExchange("The tensor can't be moved " + way + ": no backend serves that device.");
    return false;
  }
  *copy = true;
  return true;
}

PyObject* Export(const TensorObject* self, const Request& request) {
  if (self->requires_grad) return RaiseRequiresGrad();
  bool versioned;
  if (!ParseMaxVersion(request.max_version, &versioned)) return nullptr;
  Device target;
  std::optional<bool> copy;
  ExportOptions options;
  if (!ParseTarget(self->tensor, request, &target, &copy) ||
      !DecodeStream(self->tensor, target, request.stream, &options)) {
    return nullptr;
  }
  Tensor copied;
  if (copy.value_or(false)) {
    const Tensor source = self->tensor;
    absl::StatusOr<Tensor> result =
        WithoutGilIf(IsLong(source), [&] { return CopyTo(source, target, options.stream); });
    if (!result.ok()) return RaiseExchange(result.status());
    copied = *std::move(result);
    options.is_copied = true;
  }
  const Tensor& tensor = options.is_copied ? copied : self->tensor;
  if (versioned) {
    absl::StatusOr<UniqueDLPack> managed = ToDLPack(tensor, options);
    if (!managed.ok()) return RaiseExchange(managed.status());
    return MakeCapsule(*std::move(managed));
  }
  if (tensor.is_read_only()) {
    return RaiseExchange(
        "The tensor is read-only, which DLPack before 1.0 can't say. Ask for max_version=(1, 0) or "
        "later, or for a copy. A library that never writes may share it: "
        "dovetail.convert(tensor, jax.Array).");
  }
  absl::StatusOr<UniqueDLPackLegacy> managed = ToDLPackLegacy(tensor, options);
  if (!managed.ok()) return RaiseExchange(managed.status());
  return MakeCapsule(*std::move(managed));
}

// The last call of __dlpack__ that asked for a new enough struct and nothing else. A consumer
// passes the same objects every time, so that such calls are known by them.
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
#ifndef Py_GIL_DISABLED
    bool versioned;
    if (nargs != 0 || kwnames == nullptr || IsGiven(request.stream) || IsGiven(request.dl_device) ||
        IsGiven(request.copy) || !IsOfInts(request.max_version) ||
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
#endif
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

// The tensor inside a Python object is copied by who has the GIL alone; what works without it has a
// Tensor of its own (without_gil.h).
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
  // Host memory has no streams to order.
  if (plain_call.Is(args, nargs, kwnames) && !object->requires_grad &&
      object->tensor.device().type == DeviceType::kCpu) [[likely]] {
    return MakeCapsule(ToDLPackUnordered(object->tensor, CopyStorage(object->tensor)));
  }
  static const Signature kSignature("__dlpack__", 0, 0,
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
    static PyObject* const cpu = Py_BuildValue("(ii)", static_cast<int>(kDLCPU), 0);
    return Py_XNewRef(cpu);
  }
  return Py_BuildValue("(ii)", static_cast<int>(device.device_type), device.device_id);
}

PyObject* ToDLPackFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static const Signature kSignature("to_dlpack", 1, 1, {"tensor", "max_version", "stream", "copy"});
  PyObject* v[4];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  if (!IsTensor(v[0])) {
    PyErr_Format(PyExc_TypeError,
                 "to_dlpack() takes a dovetail.Tensor, not %.200s; other libraries' tensors have "
                 "a __dlpack__ method of their own",
                 Py_TYPE(v[0])->tp_name);
    return nullptr;
  }
  return Export(AsTensorObject(v[0]), {v[2], v[1], nullptr, v[3]});
}

PyObject* ToImmutableConsumer(PyObject*, PyObject* object) {
  if (!IsTensor(object)) return Raise(PyExc_TypeError, "expected a dovetail.Tensor");
  if (AsTensorObject(object)->requires_grad) return RaiseRequiresGrad();
  absl::StatusOr<UniqueDLPackLegacy> managed = ToDLPackLegacy(Writable(AsTensor(object)));
  if (!managed.ok()) return RaiseExchange(managed.status());
  return MakeCapsule(*std::move(managed));
}

}  // namespace dovetail::python
