// NumPy's scalars of dates and durations. Their buffer is 8 bytes without a type, so that they have
// to be told from bytes by their class.
//
//   if (IsNumPyTime(x)) return RaiseExchange(absl::StrCat("x ", kNumPyTimeRemedy));
//
// Needs the GIL. No error is left set.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BASE_TIME_SCALAR_H_
#define DOVETAIL_PYTHON_EXCHANGE_BASE_TIME_SCALAR_H_

#include <Python.h>

namespace dovetail::python {

// Whether `x` is a numpy.datetime64 or a numpy.timedelta64.
bool IsNumPyTime(PyObject* x);

inline constexpr char kNumPyTimeRemedy[] =
    "counts units of time, and tensors have no such type; pass the count and keep the unit, as in "
    "x.astype(\"int64\").";

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BASE_TIME_SCALAR_H_
