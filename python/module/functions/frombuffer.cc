#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/functions/traced_new_tensor.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// How many elements of `dtype` the request takes of a buffer of `nbytes`.
absl::StatusOr<int64_t> CountElements(int64_t nbytes, DType dtype, int64_t count, int64_t offset) {
  auto refuse = [](const auto&... what) {
    return absl::InvalidArgumentError(absl::StrCat("frombuffer(): ", what...));
  };
  if (nbytes == 0) return refuse("the buffer is empty.");
  if (count == 0) return refuse("count must not be 0; a negative count takes all elements.");
  if (offset < 0 || offset >= nbytes) {
    return refuse("offset is ", offset, ", but must lie within the buffer's ", nbytes, " bytes.");
  }
  const int64_t left = nbytes - offset;
  const int64_t bits = dtype.element_bits();
  // Whole bytes and whole elements; no number of bytes overflows when it is counted in bits.
  const int64_t available = left / bits * 8 + left % bits * 8 / bits;
  if (count > 0) {
    if (count <= available) return count;
    return refuse(count, " elements of ", dtype.ToString(), " do not fit the ", left,
                  " bytes after the offset of ", offset, ", which hold ", available, ".");
  }
  if (left % bits * 8 % bits != 0) {
    return refuse("the ", left, " bytes after the offset of ", offset,
                  " are no multiple of the size of ", dtype.ToString(), " (", bits, " bits).");
  }
  return available;
}

PyObject* TensorOverBuffer(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static constinit const Signature kSignature(
      "frombuffer", 1, 1, {"buffer", "dtype", "count", "offset", "requires_grad"});
  PyObject* v[5];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  if (!IsGiven(v[1])) {
    PyErr_SetString(PyExc_TypeError,
                    "frombuffer() misses the argument 'dtype': bytes do not tell their type");
    return nullptr;
  }
  DType dtype;
  int64_t count = -1, offset = 0;
  std::optional<bool> requires_grad;
  if (!ParseDType(v[1], &dtype) || (v[2] != nullptr && !ParseInt(v[2], &count)) ||
      (v[3] != nullptr && !ParseInt(v[3], &offset)) ||
      !ParseOptionalBool(v[4], "requires_grad", &requires_grad)) {
    return nullptr;
  }
  HeldBytes bytes;
  if (!ImportBytes(v[0], &bytes)) return nullptr;
  // From here on the storage lets go of them, on errors too.
  StorageRef storage = internal_storage::StorageAccess::Adopt(bytes.data, bytes.nbytes,
                                                              Device::Cpu(), bytes.release);
  const absl::StatusOr<int64_t> elements = CountElements(bytes.nbytes, dtype, count, offset);
  if (!elements.ok()) return RaiseStatus(elements.status());
  TensorObject* self = NewTensorObject();
  if (self == nullptr) return nullptr;
  nb::object result = nb::steal(reinterpret_cast<PyObject*>(self));
  internal_tensor::TensorBuilder builder(&self->tensor);
  if (absl::Status s = internal_layout::Assign(builder.layout(), 1, &*elements, nullptr); !s.ok()) {
    return RaiseStatus(s);
  }
  builder.Finish(std::move(storage), offset, dtype, {.access = bytes.access});
  TrackOwner(self);
  if (requires_grad.value_or(false) && !MarkRequiresGrad(result.ptr(), true)) return nullptr;
  return result.release().ptr();
}

}  // namespace

PyObject* FromBuffer(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return TracedNewTensor("bytes", nargs > 0 ? args[0] : nullptr,
                         [=] { return TensorOverBuffer(args, nargs, kwnames); });
}

}  // namespace dovetail::python
