#include "dovetail/python/src/frombuffer.h"

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/array_method_in.h"
#include "dovetail/python/src/error.h"
#include "dovetail/python/src/numpy_in.h"
#include "dovetail/python/src/owner.h"
#include "dovetail/python/src/peer_type.h"
#include "dovetail/python/src/tensor_object.h"
#include "dovetail/python/src/view_methods.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// One run of bytes, and how they are let go of.
struct Bytes {
  void* data;
  int64_t nbytes;
  Access access;
  Storage::Release release;
};

// Objects whose bytes stay where they are as long as the object lives: no buffer has to be held.
// (An array whose owner resizes it with refcheck=False moves them, buffer or not.)
bool GetLastingBytes(PyObject* object, Bytes* bytes) {
  if (PyBytes_CheckExact(object)) {
    *bytes = {PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), Access::kReadOnly, {}};
  } else if (NumPyBytes array; numpy_ndarray.Is(Py_TYPE(object)) && GetNumPyBytes(object, &array)) {
    *bytes = {array.data, array.nbytes, array.access, {}};
  } else {
    return false;
  }
  bytes->release = ReleaseObject(Py_NewRef(object));
  return true;
}

// The buffer as one run of bytes; nullptr with an error set.
std::unique_ptr<HeldBuffer> HoldBuffer(PyObject* object) {
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_ValueError,
                 "frombuffer() needs an object with the buffer protocol; %.200s "
                 "has none",
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  if (!CheckUnmasked(object)) return nullptr;
  auto held = std::make_unique<HeldBuffer>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_SIMPLE) == 0) return held;
  // An error of ours says what to do. NumPy raises a ValueError for what is not contiguous, others
  // a BufferError.
  if (PyErr_ExceptionMatches(ExchangeError())) return nullptr;
  if (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_Format(PyExc_ValueError,
                 "frombuffer() can't have the bytes of this buffer in one run: %S. Where they only "
                 "are not contiguous, copy it first, as in bytes(buffer)",
                 value != nullptr ? value : Py_None);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
  }
  return nullptr;
}

bool GetBytes(PyObject* object, Bytes* bytes) {
  if (GetLastingBytes(object, bytes)) return true;
  std::unique_ptr<HeldBuffer> held = HoldBuffer(object);
  if (held == nullptr) return false;
  const Py_buffer& view = held->view;
  const Access access = view.readonly ? Access::kReadOnly : Access::kReadWrite;
  *bytes = {view.buf, view.len, access, {}};
  bytes->release = ReleaseBuffer(std::move(held));
  return true;
}

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

}  // namespace

PyObject* FromBuffer(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  static const Signature kSignature("frombuffer", 1, 1,
                                    {"buffer", "dtype", "count", "offset", "requires_grad"});
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
  Bytes bytes;
  if (!GetBytes(v[0], &bytes)) return nullptr;
  // From here on the storage lets go of them, on errors too.
  StorageRef storage = Storage::Adopt(bytes.data, bytes.nbytes, Device::Cpu(), bytes.release);
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

}  // namespace dovetail::python
