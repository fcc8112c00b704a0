#include "dovetail/python/module/tensor/slots.h"

#include "dlpack/dlpack.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/interop/dlpack/view.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/traced_exchange.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

constexpr char kWay[] = "exchange API";

// The tensor of an object that may be exported, or nullptr with an error set.
const Tensor* Exportable(void* object) {
  auto* self = static_cast<PyObject*>(object);
  if (!IsTensor(self)) {
    PyErr_Format(PyExc_TypeError, "the exchange API of dovetail.Tensor was given a %.200s",
                 Py_TYPE(self)->tp_name);
    return nullptr;
  }
  if (AsTensorObject(self)->requires_grad.load()) return RaiseRequiresGrad();
  return &AsTensor(self);
}

int FromPyObject(void* object, DLManagedTensorVersioned** out) {
  const Tensor* tensor = Exportable(object);
  if (tensor == nullptr) return -1;
  const TracedExport traced(kWay, static_cast<PyObject*>(object), *tensor);
  absl::StatusOr<UniqueDLPack> managed = ToDLPack(*tensor);
  if (!managed.ok()) return RaiseExchange(managed.status()), -1;
  *out = managed->release();
  return 0;
}

// A borrowed DLTensor has no flags: what it can't say is refused, as in a legacy export.
int BorrowFromPyObject(void* object, DLTensor* out) {
  const Tensor* tensor = Exportable(object);
  if (tensor == nullptr) return -1;
  const TracedExport traced(kWay, static_cast<PyObject*>(object), *tensor);
  if (tensor->is_read_only() || tensor->packing() == Packing::kPadded) {
    RaiseExchange(
        "A borrowed DLTensor can't say that a tensor is read-only or padded; take the "
        "managed one, or copy the tensor.");
    return -1;
  }
  *out = ToDLTensor(tensor->view());
  return 0;
}

// Ownership passes on success only. The work that fills the memory is on CurrentWorkStream().
int ToPyObject(DLManagedTensorVersioned* managed, void** out) {
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return -1;
  if (absl::Status s = ImportManaged(managed, &self->tensor); !s.ok()) {
    Py_DECREF(self);
    return RaiseExchange(s), -1;
  }
  TrackOwner(self);
  if (const Device at = StreamDevice(self->tensor.device());
      at.type != DeviceType::kCpu && FindServing(at.type) != nullptr) {
    self->tensor.storage()->RecordUse(CurrentStream(at), UseKind::kOrder);
  }
  *out = self;
  return 0;
}

int CurrentWorkStream(DLDeviceType type, int32_t index, void** out) {
  const Device device = ToDevice({type, index});
  *out = nullptr;  // nothing at all on the CPU
  if (device.type == DeviceType::kCpu) return 0;
  if (FindServing(device.type) != nullptr) {
    *out = reinterpret_cast<void*>(CurrentStream(device).native());
    return 0;
  }
  RaiseExchange("No backend serves " + device.ToString() + ", so no stream of it is current.");
  return -1;
}

// Reports through SetError, not through Python: it may be called without the GIL.
int Allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  auto fail = [&](const char* kind, const std::string& message) {
    set_error(context, kind, message.c_str());
    return -1;
  };
  try {
    if (prototype->ndim < 0 || (prototype->ndim > 0 && prototype->shape == nullptr)) {
      return fail("ValueError", "The prototype has no valid shape.");
    }
    const DType dtype = ToDType(prototype->dtype);
    if (!dtype.is_known()) return fail("ValueError", "Unknown type " + dtype.ToString() + ".");
    absl::StatusOr<Tensor> tensor =
        Tensor::Empty({prototype->shape, static_cast<size_t>(prototype->ndim)}, dtype,
                      ToDevice(prototype->device));
    if (!tensor.ok()) {
      return fail(absl::IsResourceExhausted(tensor.status()) ? "MemoryError" : "ValueError",
                  std::string(tensor.status().message()));
    }
    absl::StatusOr<UniqueDLPack> managed = ToDLPack(*tensor);
    if (!managed.ok()) return fail("BufferError", std::string(managed.status().message()));
    *out = managed->release();
    return 0;
  } catch (const std::exception& e) {
    return fail("MemoryError", e.what());
  }
}

const DLPackExchangeAPI kTable = {
    .header = {.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, .prev_api = nullptr},
    .managed_tensor_allocator = &Allocate,
    .managed_tensor_from_py_object_no_sync =
        &Guard<&FromPyObject, void*, DLManagedTensorVersioned**>,
    .managed_tensor_to_py_object_no_sync = &Guard<&ToPyObject, DLManagedTensorVersioned*, void**>,
    .dltensor_from_py_object_no_sync = &Guard<&BorrowFromPyObject, void*, DLTensor*>,
    .current_work_stream = &Guard<&CurrentWorkStream, DLDeviceType, int32_t, void**>,
};

}  // namespace

bool AddExchangeApi(PyObject* type_dict) {
  PyObject* capsule =
      PyCapsule_New(const_cast<DLPackExchangeAPI*>(&kTable), "dlpack_exchange_api", nullptr);
  if (capsule == nullptr) return false;
  const int failed = PyDict_SetItemString(type_dict, "__dlpack_c_exchange_api__", capsule);
  Py_DECREF(capsule);
  return failed == 0;
}

}  // namespace dovetail::python
