#include "dovetail/python/exchange/peers/onnxruntime.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "dovetail/core/internal/storage_access.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/protocols/capsule.h"
#include "dovetail/python/exchange/protocols/producer.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

struct Names {
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* c_value = PyUnicode_InternFromString("_ortvalue");
  PyObject* numpy_array = PyUnicode_InternFromString("_numpy_obj");
};
const Names& Get() { return MadeOnce<Names>(); }

// The capsule of the C object, or else of `x`, which takes twice the time.
PyObject* CallDLPack(PyObject* x) {
  nb::object value;
  if (!FindAttribute(x, Get().c_value, &value)) return nullptr;
  PyObject* const producer = value.is_valid() ? value.ptr() : x;
  return HangAtThreadEnd([&] { return PyObject_CallMethodNoArgs(producer, Get().dlpack); });
}

// Whether the tensor is the memory of a read-only array of NumPy, to which ONNX Runtime would
// write. False with an error set where the attribute raised one.
bool FindAccess(PyObject* x, const Tensor& tensor, Access* access) {
  nb::object array;
  NumPyBytes bytes;
  *access = Access::kReadWrite;
  if (!FindAttribute(x, Get().numpy_array, &array)) return false;
  if (array.is_valid() && numpy_ndarray.IsBaseOf(Py_TYPE(array.ptr())) &&
      GetNumPyBytes(array.ptr(), &bytes) && bytes.data == tensor.raw_data()) {
    *access = bytes.access;
  }
  return true;
}

}  // namespace

ExchangeResult ImportOrtValue(PyObject* x, Tensor* tensor) {
  nb::object capsule = nb::steal(CallDLPack(x));
  if (!capsule.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
      RaiseOfProducer(x, Get().dlpack);
      return ExchangeResult::kError;
    }
    PyErr_Clear();
    return ExchangeResult::kNotTaken;
  }
  Tensor lent;
  CapsuleFacts facts;
  Access access;
  if (!ConsumeReturned(x, "__dlpack__", capsule.release().ptr(), &lent, &facts) ||
      !FindAccess(x, lent, &access)) {
    return ExchangeResult::kError;
  }
  const Storage& storage = *lent.storage();
  StorageRef held = internal_storage::StorageAccess::Adopt(storage.data(), storage.nbytes(),
                                                           storage.device(), ReleaseObject(x));
  Py_INCREF(x);
  *tensor =
      internal_tensor::MakeUnchecked(std::move(held), lent.byte_offset(), lent.dtype(),
                                     lent.layout(), {.access = access, .packing = lent.packing()});
  return ExchangeResult::kDone;
}

}  // namespace dovetail::python
