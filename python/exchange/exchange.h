// Turns Python objects of any library into tensors, and tensors into objects of other libraries.
//
// For extension modules of your own, in C++, without the dovetail Python package:
//
//   dovetail::Tensor tensor;
//   if (!dovetail::python::FromPython(object, &tensor)) return nullptr;
//   Work(tensor);                                             // shares the object's memory
//   return dovetail::python::ToPython(tensor, Py_TYPE(object));
//
// Ownership: a Tensor keeps the object's memory alive, on any thread and after the object is gone.
// A BorrowedView does so as long as it lives. A new object keeps the Tensor's memory alive. GIL:
// every function needs it. Tensors may be copied, moved and dropped without it. Errors: a function
// that returns false or nullptr has set a Python error. What can't be exchanged raises BufferError,
// or the class that SetErrors() names. KeyboardInterrupt passes through.
//
// This header is the library's interface. The headers in the folders below it may change.

#ifndef DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail::python {

// Imports any object: an array or tensor of a known library, or an object with __dlpack__, a
// buffer, __array_interface__, __cuda_array_interface__ or __array__. Only the last may copy.
// TypeError for an object that has none of these.
bool FromPython(PyObject* object, Tensor* tensor);

// A view of an object's memory for the duration of a call. For an exact NumPy array no ownership is
// taken: the caller holds the array, and does not resize it, while the view is used.
class BorrowedView {
 public:
  BorrowedView() = default;
  BorrowedView(const BorrowedView&) = delete;
  BorrowedView& operator=(const BorrowedView&) = delete;

  // False with an error set, as FromPython().
  bool Borrow(PyObject* object);

  // Valid after Borrow() succeeded, until the next Borrow().
  const TensorView& view() const { return view_; }

 private:
  Tensor tensor_;
  int64_t strides_[Layout::kMaxRank];
  TensorView view_;
};

// A new object of the class `type` that shares the memory: numpy.ndarray, torch.Tensor or
// paddle.Tensor. TypeError for another class. The exchange error for memory that the class does not
// take as it is, such as read-only memory for torch.Tensor; pass a copy then.
PyObject* ToPython(const Tensor& tensor, PyTypeObject* type);

// A new DLPack capsule, "dltensor_versioned", to be returned from a __dlpack__ method.
PyObject* ToCapsule(const Tensor& tensor);

// The exception classes to raise for tensors that can't be exchanged and for streams that a device
// does not have. Both are kept alive for the life of the process.
void SetErrors(PyObject* exchange, PyObject* stream);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_
