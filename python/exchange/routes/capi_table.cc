#include "dovetail/python/exchange/routes/capi_table.h"

#include <Python.h>
#include <nanobind/nanobind.h>

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/version.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"
#include "dovetail/python/exchange/routes/borrow_object.h"
#include "dovetail/python/exchange/routes/current_stream.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/make_borrowed.h"
#include "dovetail/python/exchange/routes/result.h"

namespace nb = nanobind;

namespace dovetail::python {

absl::Status MakeEmpty(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
                       DLManagedTensorVersioned** managed) {
  if (ndim < 0 || (ndim > 0 && shape == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat(
        ndim, " sizes at 0x", absl::Hex(reinterpret_cast<uintptr_t>(shape)), " are no shape"));
  }
  const DType type = ToDType(dtype);
  if (!type.is_known()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "code ", int{dtype.code}, ", ", int{dtype.bits}, " bits and ", int{dtype.lanes},
        " lanes are no type of dlpack.h ", DLPACK_MAJOR_VERSION, ".", DLPACK_MINOR_VERSION));
  }
  absl::StatusOr<Tensor> tensor =
      Tensor::Empty({shape, static_cast<size_t>(ndim)}, type, ToDevice(device));
  if (!tensor.ok()) return tensor.status();
  *managed = ToDLPackUnordered(*tensor).release();
  return absl::OkStatus();
}
namespace {

int FromPythonObject(PyObject* object, DLManagedTensorVersioned** managed) {
  DrainPendingReleases();
  Tensor tensor;
  if (!ImportAny(object, {}, &tensor)) return -1;
  *managed = ToDLPackUnordered(tensor).release();
  return 0;
}

PyObject* ToPythonObject(DLManagedTensorVersioned* managed, PyObject* like) {
  DrainPendingReleases();
  UniqueDLPack owner(managed);
  PyObject* const given = GiveLike(&owner, like);
  if (given != nullptr || owner == nullptr) return given;
  Tensor tensor;
  if (absl::Status s = ImportManaged(managed, &tensor); !s.ok()) {
    owner.reset();
    return RaiseExchange(s);
  }
  (void)owner.release();
  return MakeLike(tensor, like);
}

int Empty(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
          DLManagedTensorVersioned** managed) {
  const absl::Status made = MakeEmpty(dtype, device, ndim, shape, managed);
  return made.ok() ? 0 : (RaiseStatus(made), -1);
}

// Without the GIL while several threads work.
void ParallelForInPackage(int64_t count, int64_t grain,
                          void (*body)(void* context, int64_t begin, int64_t end), void* context) {
  if (count <= 0) return;
  // More parts than threads, so that a slow one does not keep the others waiting.
  const int64_t most = int64_t{4} * GetNumThreads();
  const int64_t wanted = grain > 0 ? (count - 1) / grain + 1 : most;
  const int64_t parts = GetNumThreads() == 1 ? 1 : std::min({wanted, most, count});
  if (parts == 1) return body(context, 0, count);
  const int64_t part_size = count / parts, longer = count % parts;  // the first ones by one
  const auto work = [&](int64_t part) {
    const int64_t begin = part * part_size + std::min(part, longer);
    body(context, begin, begin + part_size + (part < longer ? 1 : 0));
  };
  WithoutGilIf(PyGILState_Check() != 0, [&] { ParallelFor(parts, work); });
}

int CurrentStreamOf(PyObject* like, DLDevice device, void** stream) {
  return FindCurrentStream(like, device, stream) ? 0 : -1;
}

}  // namespace

const DovetailCApi* CApiTable() {
  static const DovetailCApi table = {
      .struct_size = sizeof(DovetailCApi),
      .major = DOVETAIL_CAPI_MAJOR,
      .minor = DOVETAIL_CAPI_MINOR,
      .version = DOVETAIL_VERSION_STRING,
      .borrow = &Guard<&BorrowObject, PyObject*, const DovetailRequirements*, DovetailCall*,
                       DovetailBorrowed*>,
      .from_python = &Guard<&FromPythonObject, PyObject*, DLManagedTensorVersioned**>,
      .to_python = &Guard<&ToPythonObject, DLManagedTensorVersioned*, PyObject*>,
      .empty =
          &Guard<&Empty, DLDataType, DLDevice, int32_t, const int64_t*, DLManagedTensorVersioned**>,
      .current_stream = &Guard<&CurrentStreamOf, PyObject*, DLDevice, void**>,
      .can_hold = &Guard<&CanHoldType, PyObject*, DLDataType>,
      .make = &Guard<&MakeBorrowed, const DovetailRequirements*, DovetailCall*, PyObject*,
                     DovetailBorrowed*>,
      .parallel_for = &ParallelForInPackage,
  };
  return &table;
}

const DovetailCApi* FindPackagesCApi() {
  static constinit InternedName module_name("dovetail._core");
  static constinit InternedName attribute_name(DOVETAIL_CAPI_ATTRIBUTE);
  const nb::object module = nb::steal(PyImport_GetModule(module_name.get()));
  const nb::object capsule = module.is_valid()
                                 ? nb::steal(PyObject_GetAttr(module.ptr(), attribute_name.get()))
                                 : nb::object();
  const auto* api = capsule.is_valid() ? static_cast<const DovetailCApi*>(PyCapsule_GetPointer(
                                             capsule.ptr(), DOVETAIL_CAPI_CAPSULE))
                                       : nullptr;
  PyErr_Clear();
  return api == nullptr || api == CApiTable() || api->major != DOVETAIL_CAPI_MAJOR ? nullptr : api;
}

}  // namespace dovetail::python
