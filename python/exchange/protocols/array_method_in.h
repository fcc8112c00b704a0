// NumPy's __array__ method, the last resort: tables, labelled arrays and variables have nothing
// else.
//
//   nb::object array = CallArrayMethod(x);        // x is a pandas.DataFrame
//
// The method returns an array of NumPy, over the memory of `x` or a copy; it does not say which.
// Source: numpy.org/doc/stable/user/basics.interoperability.html. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_METHOD_IN_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_METHOD_IN_H_

#include <Python.h>
#include <nanobind/nanobind.h>

namespace dovetail::python {

// Whether the class of `x` has the method. Runs no Python code. No error may be set.
bool HasArrayMethod(PyObject* x);

// x.__array__(). Invalid with an error set: what the method raises, or TypeError for a result that
// is no array of NumPy.
nanobind::object CallArrayMethod(PyObject* x);

// False with an ExchangeError set for a numpy.ma array with masked elements: no protocol passes the
// mask on.
bool CheckUnmasked(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_METHOD_IN_H_
