#include "dovetail/python/exchange/protocols/bytes_in.h"

#include <memory>
#include <utility>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/protocols/array_method_in.h"

namespace dovetail::python {
namespace {

// Holds the buffer as one run of bytes; nullptr with an error set.
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
    RaiseExchangeFromSet(
        "frombuffer() can't have the bytes of this buffer in one run (where they only are not "
        "contiguous, copy it first, as in bytes(buffer))");
  }
  return nullptr;
}

}  // namespace

bool HoldBytesObject(PyObject* object, HeldBytes* bytes) {
  *bytes = {PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), Access::kReadOnly,
            ReleaseObject(Py_NewRef(object))};
  return true;
}

bool HoldBufferBytes(PyObject* object, HeldBytes* bytes) {
  std::unique_ptr<HeldBuffer> held = HoldBuffer(object);
  if (held == nullptr) return false;
  const Py_buffer& view = held->view;
  const Access access = view.readonly ? Access::kReadOnly : Access::kReadWrite;
  *bytes = {view.buf, view.len, access, {}};
  bytes->release = ReleaseBuffer(std::move(held));
  return true;
}

}  // namespace dovetail::python
