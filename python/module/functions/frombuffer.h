// frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False): the bytes of an object
// with the buffer protocol as a 1-D tensor.
//
//   t = dt.frombuffer(array.array("i", [1, 2, 3]), dtype=dt.int32)
//
// torch.frombuffer's rules. The memory is shared; `offset` counts bytes and need not be aligned,
// `count` counts elements, and a negative one takes all. A read-only buffer gives a read-only
// tensor. Unlike torch the buffer is held until the memory is no longer used: resizing its owner
// raises BufferError meanwhile. Elements that share bytes are read packed, lowest bits first.
//
// ValueError for an object without the protocol or whose bytes do not lie in one run, an empty
// buffer, a count of 0 or beyond the end, an offset outside of the buffer, bytes left over where
// all are taken, and requires_grad where the type has none.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROMBUFFER_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROMBUFFER_H_

#include <Python.h>

namespace dovetail::python {

// A function of the module, METH_FASTCALL | METH_KEYWORDS.
PyObject* FromBuffer(PyObject* module, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_FROMBUFFER_H_
