#include "dovetail/python/exchange/protocols/buffer_in.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/buffer/import.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/time_scalar.h"

namespace dovetail::python {

namespace {

// Whether the error that is set means that the object has no buffer now. NumPy's scalars of
// registered types (ml_dtypes' bfloat16) raise TypeError.
bool IsRefusal(PyObject* object) {
  if (PyErr_ExceptionMatches(PyExc_BufferError)) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  nanobind::error_scope in_flight;  // a lookup with an error set may take it for its own
  return numpy_scalar.IsBaseOf(Py_TYPE(object));
}

}  // namespace

bool ImportBuffer(PyObject* object, Tensor* tensor, bool* is_refused) {
  auto held = std::make_unique<HeldBuffer>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    if (is_refused != nullptr) *is_refused = IsRefusal(object);
    return false;
  }
  if (view.ndim == 1 && view.len == sizeof(int64_t) && IsNumPyTime(object)) {
    PyBuffer_Release(&view);
    return RaiseExchange(
               absl::StrCat("A ", Py_TYPE(object)->tp_name, " scalar ", kNumPyTimeRemedy)),
           false;
  }
  BufferLayout layout;
  const absl::Status status = DescribeBuffer({.data = view.buf,
                                              .nbytes = view.len,
                                              .itemsize = view.itemsize,
                                              .format = view.format,
                                              .ndim = view.ndim,
                                              .shape = view.shape,
                                              .strides = view.strides,
                                              .has_suboffsets = view.suboffsets != nullptr,
                                              .read_only = view.readonly != 0},
                                             &layout);
  if (!status.ok()) {
    PyBuffer_Release(&view);
    return RaiseExchange(status), false;
  }
  *tensor = AdoptBuffer(std::move(layout), Device::Cpu(), ReleaseBuffer(std::move(held)));
  return true;
}

}  // namespace dovetail::python
