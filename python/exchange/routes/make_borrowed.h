// Makes the tensors that an extension's function fills, where the caller gave none.
//
//   if (MakeBorrowed(&wanted, &call, like, &borrowed) != 0) return -1;      // Dovetail_Make()

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_

#include <Python.h>

#include <cstdint>
#include <string>

#include "dlpack/dlpack.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

// Dovetail_Make() of capi.h. `like` may be nullptr. Needs the GIL.
int MakeBorrowed(const DovetailRequirements* wanted, DovetailCall* call, PyObject* like,
                 DovetailBorrowed* borrowed);

struct ResultSizes {
  int32_t ndim = 0;
  int64_t all[DOVETAIL_MAX_NDIM];
};

// The sizes that Dovetail_Make() gives to a result: those that the call's arguments have by name.
// Returns why it can't be made; empty if it can. Any thread.
std::string FindResultSizes(const DovetailRequirements& wanted, const DovetailCall& call,
                            ResultSizes* sizes);

// Dovetail_CanHold() of capi.h. Needs the GIL.
int CanHoldType(PyObject* like, DLDataType dtype);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_
