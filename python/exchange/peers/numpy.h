// NumPy's arrays: exact ones are imported by reading the fields of the array object, and made over
// tensors, both by NumPy's C interface.
//
//   if (numpy_ndarray.Is(Py_TYPE(x)) && ImportNumPyArray(x, &tensor)) ...
//   PyObject* array = MakeNumPyArray(tensor.view(), owner);
//
// An import is that of numpy.ndarray.__dlpack__: the same type, layout and access, and the array
// is kept alive. Arrays that __dlpack__ refuses (structured types, another byte order, strides that
// are no multiple of the element size) are not taken, but for those of ml_dtypes' types
// (user_types.h), which are.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_H_
#define DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_H_

#include <Python.h>

#include <cstdint>

#include "dovetail/core/tensor.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/peers/peer.h"
#include "dovetail/python/exchange/protocols/buffer.h"

namespace dovetail::python {

// `x` is an exact ndarray. False without an error set if __dlpack__ has to be called.
bool ImportNumPyArray(PyObject* x, Tensor* tensor);

// The same for a subclass of ndarray, such as numpy.memmap, whose elements are of a registered type
// and whose __dlpack__ is NumPy's, which refuses them. False for any other object.
bool ImportNumPyUserTypes(PyObject* x, Tensor* tensor);

// The same as a borrowed view. `strides` has room for Layout::kMaxRank strides. The view is valid
// as long as the array. Whether its extent fits an address space is not checked.
bool ViewNumPyArray(PyObject* x, int64_t* strides, TensorView* view);

// The same for a call of an extension's function (capi.h).
ExchangeResult BorrowNumPyArray(PyObject* x, DovetailBorrowed* borrowed);

// The bytes of an ndarray, for a reader that gives them a type of its own.
struct NumPyBytes {
  void* data;
  int64_t nbytes;
  Access access;
};
// False without an error set for arrays that the buffer protocol has to handle: gaps between the
// elements, a type that has no DType, an array that warns when it is written.
bool GetNumPyBytes(PyObject* x, NumPyBytes* bytes);

// The same, held by the array or, where GetNumPyBytes() is false, by its buffer. False with an
// error set, as HoldBufferBytes().
bool HoldNumPyBytes(PyObject* x, HeldBytes* bytes);

// ImportNumPyArray() for the table of peers: what it does not take, __dlpack__ has to refuse.
inline ExchangeResult TryImportNumPyArray(PyObject* x, Tensor* tensor) {
  return ImportNumPyArray(x, tensor) ? ExchangeResult::kDone : ExchangeResult::kNotTaken;
}

// (NumPy 2.4)
DOVETAIL_NOT_SHARED inline constexpr Peer kNumPyPeer = {
    .type = numpy_ndarray,
    .way_in = "NumPy array",
    .import = &TryImportNumPyArray,
    .hold_bytes = &HoldNumPyBytes,
    .borrow = &BorrowNumPyArray,
    .way_out = WayOut::kNumPy,
    .accepts = kEveryMemory,
    .direct_from = &torch_tensor,
    .function = {"dovetail._numpy", "to_numpy"},
};

// An array that shares the memory of `view`, read-only where it is, and keeps `owner` alive. The
// memory must be the host's. nullptr and no error set when NumPy's C interface can't be used or has
// no such type; nullptr with an error set otherwise.
PyObject* MakeNumPyArray(const TensorView& view, PyObject* owner);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PEERS_NUMPY_H_
