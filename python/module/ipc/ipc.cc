#include "dovetail/python/module/ipc/ipc.h"

#include <string>
#include <string_view>
#include <utility>

#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/objects/device_class.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/placement.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

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

PyObject* IpcShareFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2) return Raise(PyExc_TypeError, "_ipc_share() takes a tensor and readonly");
  if (!CheckTensor(args[0])) return nullptr;
  const Tensor tensor = AsTensor(args[0]);
  const ipc::ShareOptions options = {.read_only = args[1] == Py_True};
  absl::StatusOr<ipc::Handle> handle = WithoutGilIf(!IsHostAccessible(tensor.device().type),
                                                    [&] { return ipc::Share(tensor, options); });
  if (!handle.ok()) return RaiseStatus(handle.status());
  const std::string bytes = handle->ToBytes();
  return PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
}

PyObject* IpcOpenFunction(PyObject*, PyObject* object) {
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return nullptr;
  const std::string_view message(data, static_cast<size_t>(size));
  return WrapTensor(WithoutGilIf(true, [&] { return ipc::Open(message); }));
}

PyObject* IpcTensorFunction(PyObject*, PyObject* object) {
  Tensor tensor;
  if (!ImportToShare(object, &tensor)) return nullptr;
  return WrapTensor(std::move(tensor));
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
  if (nargs != 4) {
    return Raise(PyExc_TypeError, "_ipc_empty() takes shape, dtype, device and isolated");
  }
  const ipc::EmptyOptions options = {.isolated = args[3] == Py_True};
  if (!ParseShape(args[0], &shape) || !wanted.Parse(args[1], args[2])) return nullptr;
  return WrapTensor(WithoutGilIf(true, [&] {
    return ipc::Empty(shape, wanted.dtype_or(kFloat32), wanted.device.value_or(Device::Cpu()),
                      options);
  }));
}

PyObject* IpcForgetFunction(PyObject*, PyObject*) {
  ipc::UnlinkMySegments();
  Py_RETURN_NONE;
}

PyObject* IpcUnlinkLeftBehindFunction(PyObject*, PyObject*) {
  return PyLong_FromLong(ipc::UnlinkLeftBehind());
}

PyMethodDef functions[] = {
    Fast<&IpcShareFunction>("_ipc_share",
                            "_ipc_share($module, tensor, readonly, /)\n--\n\n"
                            "The bytes of a handle of the tensor, for dovetail.ipc."),
    OneArgument<&IpcOpenFunction>("_ipc_open",
                                  "_ipc_open($module, handle, /)\n--\n\n"
                                  "The tensor that a handle's bytes name, for dovetail.ipc."),
    OneArgument<&IpcTensorFunction>("_ipc_tensor",
                                    "_ipc_tensor($module, x, /)\n--\n\n"
                                    "Another library's tensor as one, for dovetail.ipc."),
    OneArgument<&IpcCopyFunction>("_ipc_copy",
                                  "_ipc_copy($module, tensor, /)\n--\n\n"
                                  "A copy in memory that can be shared, for dovetail.ipc."),
    OneArgument<&IpcDescribeFunction>("_ipc_describe",
                                      "_ipc_describe($module, handle, /)\n--\n\n"
                                      "What a handle's bytes say, for dovetail.ipc."),
    Fast<&IpcEmptyFunction>("_ipc_empty",
                            "_ipc_empty($module, shape, dtype, device, isolated, /)\n--\n\n"
                            "A tensor in memory that can be shared, for dovetail.ipc."),
    NoArguments<&IpcForgetFunction>("_ipc_forget",
                                    "_ipc_forget($module, /)\n--\n\n"
                                    "Unlinks this process's shared memory, for dovetail.ipc."),
    NoArguments<&IpcUnlinkLeftBehindFunction>(
        "_ipc_unlink_left_behind",
        "_ipc_unlink_left_behind($module, /)\n--\n\n"
        "Unlinks shared memory of processes that were killed, and returns the number of files."),
    kEndOfMethods,
};

}  // namespace

bool ImportToShare(PyObject* x, Tensor* tensor) {
  if (ImportTensor(x, tensor)) return true;
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
  PyObject* const error = TakeError();
  nb::object method;
  if (FindAttribute(x, "__dlpack__", &method) && !method.is_valid()) {
    PyErr_Format(PyExc_TypeError,
                 "share() takes one tensor, of Dovetail or of another library that from_dlpack() "
                 "knows, not %R",
                 Py_TYPE(x));
    Py_DECREF(error);
  } else {
    RestoreError(error);
  }
  return false;
}

PyMethodDef* IpcFunctions() { return functions; }

}  // namespace dovetail::python
