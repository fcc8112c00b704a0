#include "dovetail/python/exchange/buffer/buffer_in.h"

#include <memory>
#include <utility>

#include "dovetail/interop/buffer/import.h"
#include "dovetail/python/exchange/lifetime/owner.h"
#include "dovetail/python/exchange/support/error.h"

namespace dovetail::python {

bool ImportBuffer(PyObject* object, Tensor* tensor, bool* is_refused) {
  auto held = std::make_unique<HeldBuffer>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    if (is_refused != nullptr) *is_refused = PyErr_ExceptionMatches(PyExc_BufferError) != 0;
    return false;
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
