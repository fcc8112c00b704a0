// Facts about a producer besides its capsule: what its errors mean, and whether its arrays may
// change.
//
//   PyObject* capsule = Call(x);
//   if (capsule == nullptr && IsUnknownKeyword()) …           // an old signature
//   if (capsule == nullptr) return RaiseOfProducer(x, name);
//
// Needs the GIL. The functions about errors read the current exception.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_PRODUCER_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_PRODUCER_H_

#include <Python.h>

#include <cstddef>
#include <string_view>

#include "dovetail/core/tensor.h"

namespace dovetail::python {

// Whether the exception says that a function does not know a keyword: a TypeError in one of the
// wordings of Python, Cython, pybind11, nanobind and Boost.Python. Any other TypeError is a fault
// inside the function.
bool IsUnknownKeyword();

// Whether the exception is one by which a producer refuses a keyword or its value.
bool IsRefusal();

// Raises an ExchangeError whose cause is the current exception, a refusal of copy=False.
std::nullptr_t RaiseRefusal();

// Raises an ExchangeError whose cause is the current exception, raised by the method `name` of what
// `whose` names in the message: "The producer's __dlpack__() raised …". MemoryError, ExchangeError
// and what is no Exception (KeyboardInterrupt) stay unchanged.
std::nullptr_t RaiseOfMethod(std::string_view whose, PyObject* name);
// The same for the producer `x`. AttributeError if `x` has no such method.
std::nullptr_t RaiseOfProducer(PyObject* x, PyObject* name);

// Whether the error is that the class of `x` lacks the method `name`, which asks for the device, or
// has None for it, and has __dlpack__. The error stays set.
bool LacksDevice(PyObject* x, PyObject* name);

// Whether `x`, which gave `tensor` by a legacy capsule, belongs to a library whose arrays never
// change, or shows its memory as read-only. A legacy capsule can't say so. False with an error set
// if an interrupt stopped the check.
bool NeverChanges(PyObject* x, const Tensor& tensor, bool* result);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_PRODUCER_H_
