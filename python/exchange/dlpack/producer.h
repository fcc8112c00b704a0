// What the doors in ask and tell of a producer beside its capsule: what its errors mean, and
// whether its arrays may change.
//
//   PyObject* capsule = Call(x);
//   if (capsule == nullptr && IsUnknownKeyword()) …           // an old signature
//   if (capsule == nullptr) return RaiseOfProducer(x, name);
//
// Needs the GIL. The functions about errors look at the one in flight.

#ifndef DOVETAIL_PYTHON_EXCHANGE_DLPACK_PRODUCER_H_
#define DOVETAIL_PYTHON_EXCHANGE_DLPACK_PRODUCER_H_

#include <Python.h>

#include <cstddef>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Whether it says that a function does not know a keyword: a TypeError in one of the wordings of
// Python, Cython, pybind11, nanobind and Boost.Python. Any other TypeError is a fault inside of it.
bool IsUnknownKeyword();

// An error that a producer may answer a keyword or its value with.
bool IsRefusal();

// A refusal of copy=False becomes the cause of an ExchangeError.
std::nullptr_t RaiseRefusal();

// What the method `name` of `x` raised becomes the cause of an ExchangeError, which says where it
// came from. Unchanged are lack of memory, an ExchangeError, and what is no Exception
// (KeyboardInterrupt). AttributeError if x has no such method.
std::nullptr_t RaiseOfProducer(PyObject* x, PyObject* name);

// Whether `x`, which gave `tensor` by a legacy capsule, is of a library whose arrays never change
// or shows its memory as read-only. Such a capsule can't say so. False with an error set where
// asking was interrupted.
bool NeverChanges(PyObject* x, const Tensor& tensor, bool* result);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_DLPACK_PRODUCER_H_
