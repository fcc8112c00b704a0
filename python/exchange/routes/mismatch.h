// A borrowed tensor that does not meet a function's requirements (capi.h), as a Python error.
//
//   if (Fits(borrowed, wanted, &call)) return 0;
//   RaiseMismatch(FindMismatch(borrowed, wanted, &call), borrowed, wanted, call);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_

#include <Python.h>

#include "dovetail/python/capi.h"
#include "dovetail/python/fit/complaint.h"
#include "dovetail/python/fit/fits.h"

namespace dovetail::python {

using internal_fit::ArgumentClass;
using internal_fit::ArgumentPrefix;
using internal_fit::FindMismatch;
using internal_fit::Fits;
using internal_fit::FitsLast;
using internal_fit::Misfit;
using internal_fit::TypeToPass;
using internal_fit::Want;

// Of an object of a known library or of any other. Needs the GIL.
ArgumentClass ClassOf(PyObject* object);

// Sets the error: which argument, what it is, what it must be, and how to convert it. `misfit` is
// that of FindMismatch(). Needs the GIL.
void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
