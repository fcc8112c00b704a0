// Turns Python objects of any library into tensors, and tensors into objects of other libraries.
//
// For extension modules in C++, with or without the dovetail Python package:
//
//   absl::StatusOr<dovetail::Tensor> tensor = dovetail::python::FromPython(object);
//   if (!tensor.ok()) return nullptr;                         // the Python error is set
//   Work(*tensor);                                            // shares the object's memory
//   return dovetail::python::ToPython(*tensor, object);       // torch in, torch out
//
// arg.h and casters/ have typed arguments for functions bound by nanobind and pybind11; capi.h has
// the same in C. Ownership: a Tensor keeps the object's memory alive, on any thread and after the
// object is gone. A BorrowedTensor is for the duration of a call. A new object keeps the Tensor's
// memory alive. GIL: every function needs it. Tensors may be copied, moved and dropped without it.
// Errors: a function that fails has set a Python error, and returns a Status with its message,
// false or nullptr. What can't be exchanged raises BufferError, or the class that SetErrors()
// names. KeyboardInterrupt passes through.
//
// This header is the library's interface. The headers in the folders below it may change.

#ifndef DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_
#define DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_

#include <Python.h>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "dovetail/core/device.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

// What a function takes, and one call of it. capi.h describes them.
using Requirements = DovetailRequirements;
using Call = DovetailCall;

// Imports any object: an array or tensor of a known library, or an object with __dlpack__, a
// buffer, __array_interface__, __cuda_array_interface__ or __array__. Only the last may copy.
// TypeError for an object that has none of these.
absl::StatusOr<Tensor> FromPython(PyObject* object);
bool FromPython(PyObject* object, Tensor* tensor);

// A tensor for the duration of a call: the caller holds the object, and nothing resizes it or
// replaces its memory meanwhile. Takes no ownership of the memory of NumPy's, PyTorch's, Paddle's
// and Dovetail's own tensors; holds that of others.
class BorrowedTensor {
 public:
  // Of no memory and rank 0.
  BorrowedTensor() {
    borrowed_.tensor = {};
    borrowed_.object = nullptr;
    borrowed_.stream = nullptr;
    borrowed_.held = nullptr;
    borrowed_.flags = 0;
  }
  ~BorrowedTensor() { Dovetail_Release(&borrowed_); }
  BorrowedTensor(BorrowedTensor&& other) noexcept { MoveFrom(other); }
  BorrowedTensor& operator=(BorrowedTensor&& other) noexcept;

  // The tensor as a C struct, with shape and strides in elements; strides are never NULL.
  const DLTensor& dl_tensor() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return borrowed_.tensor; }
  TensorView view() const ABSL_ATTRIBUTE_LIFETIME_BOUND;
  bool is_read_only() const { return (borrowed_.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }
  // The current stream of the object's library, such as a CUstream; nullptr for host memory.
  void* stream() const { return borrowed_.stream; }

 private:
  friend absl::StatusOr<BorrowedTensor> Borrow(PyObject* object, const Requirements& wanted,
                                               Call* call);
  void MoveFrom(BorrowedTensor& other);

  DovetailBorrowed borrowed_;
};

// Borrows the memory of `object` if it meets the requirements; by default, if it is in host memory.
// If `wanted` asks for memory that the CPU can read, the host waits for pending work on it.
// Otherwise nothing is ordered: work on a GPU goes to stream(). Errors are those of
// Dovetail_Borrow(). A quiet call is Unknown, without a Python error, for a tensor that does not
// fit.
absl::StatusOr<BorrowedTensor> Borrow(PyObject* object, const Requirements& wanted = {},
                                      Call* call = nullptr);

// A new object that shares the memory, of the class of `like`, which is an object or a class:
// numpy.ndarray, torch.Tensor, jax.Array, paddle.Tensor, … For an object of another class or
// nullptr, a dovetail.Tensor, or a NumPy array where the package is not installed. Waits for
// nothing: the work that fills the memory is on CurrentStream(). The exchange error for memory that
// the class does not take as it is, such as read-only memory for torch.Tensor; pass a copy then.
PyObject* ToPython(const Tensor& tensor, PyObject* like);

// The stream on which the library of `like` works now. The default stream for libraries that do not
// say.
absl::StatusOr<Stream> CurrentStream(PyObject* like, Device device);

// A new DLPack capsule, "dltensor_versioned", to be returned from a __dlpack__ method.
PyObject* ToCapsule(const Tensor& tensor);

// The exception classes to raise for tensors that can't be exchanged and for streams that a device
// does not have. Both are kept alive for the life of the process.
void SetErrors(PyObject* exchange, PyObject* stream);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_EXCHANGE_H_
