#include "dovetail/python/module/ipc/ipc.h"

#include <string>
#include <string_view>
#include <utility>

#include "dovetail/core/ipc/process_token.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

bool CheckTensor(PyObject* object) {
  if (!CheckIsTensor(object)) return false;
  if (AsTensorObject(object)->requires_grad.load()) return RaiseRequiresGrad(), false;
  return true;
}

bool ParseHandle(PyObject* object, ipc::Handle* handle) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return false;
  absl::StatusOr<ipc::Handle> parsed =
      ipc::Handle::FromBytes(std::string_view(data, static_cast<size_t>(size)));
  if (!parsed.ok()) return RaiseStatus(parsed.status()), false;
  *handle = *std::move(parsed);
  return true;
}

}  // namespace

PyObject* IpcShareFunction(PyObject*, PyObject* object) {
  if (!CheckTensor(object)) return nullptr;
  const Tensor tensor = AsTensor(object);
  absl::StatusOr<ipc::Handle> handle =
      WithoutGilIf(!IsHostAccessible(tensor.device().type), [&] { return ipc::Share(tensor); });
  if (!handle.ok()) return RaiseStatus(handle.status());
  const std::string bytes = handle->ToBytes();
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

PyObject* IpcOpenFunction(PyObject*, PyObject* object) {
  ipc::Handle handle;
  if (!ParseHandle(object, &handle)) return nullptr;
  return WrapTensor(WithoutGilIf(true, [&] { return ipc::Open(handle); }));
}

PyObject* IpcCopyFunction(PyObject*, PyObject* object) {
  if (!CheckTensor(object)) return nullptr;
  const Tensor tensor = AsTensor(object);
  return WrapTensor(WithoutGilIf(IsLong(tensor), [&] { return ipc::CopyToShared(tensor); }));
}

PyObject* IpcDescribeFunction(PyObject*, PyObject* object) {
  ipc::Handle handle;
  if (!ParseHandle(object, &handle)) return nullptr;
  return Py_BuildValue("(sNNNNO)", handle.ToString().c_str(), DTypeToPython(handle.dtype),
                       ShapeToPython(handle.layout.shape()), ShapeToPython(handle.layout.strides()),
                       DeviceToPython(handle.device),
                       handle.options.access == Access::kReadOnly ? Py_True : Py_False);
}

PyObject* IpcEmptyFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  Dims shape;
  Placement wanted;
  if (nargs != 3) return Raise(PyExc_TypeError, "_ipc_empty() takes shape, dtype and device");
  if (!ParseShape(args[0], &shape) || !wanted.Parse(args[1], args[2])) return nullptr;
  return WrapTensor(WithoutGilIf(true, [&] {
    return ipc::Empty(shape, wanted.dtype_or(kFloat32), wanted.device.value_or(Device::Cpu()));
  }));
}

PyObject* IpcForgetFunction(PyObject*, PyObject*) {
  ipc::UnlinkMySegments();
  Py_RETURN_NONE;
}

PyObject* IpcUnlinkLeftBehindFunction(PyObject*, PyObject*) {
  return PyLong_FromLong(ipc::UnlinkLeftBehind());
}

}  // namespace dovetail::python
