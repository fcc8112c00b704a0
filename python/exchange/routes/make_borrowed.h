// Makes the tensors that an extension's function fills, where the caller gave none.
//
//   if (MakeBorrowed(&wanted, &call, like, &borrowed) != 0) return -1;      // Dovetail_Make()

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_

#include <Python.h>

#include "absl/functional/function_ref.h"
#include "dlpack/dlpack.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

// Dovetail_Make() of capi.h. `like` may be nullptr. Needs the GIL.
int MakeBorrowed(const DovetailRequirements* wanted, DovetailCall* call, PyObject* like,
                 DovetailBorrowed* borrowed);

// The type of such a result: that of the arguments with the same type name. If there are none, the
// first wanted type of which `can_hold` (Dovetail_CanHold()) says that the library has it. False
// with an error set. Needs the GIL.
bool FindResultType(const DovetailRequirements& wanted, const DovetailCall& call,
                    absl::FunctionRef<int(DLDataType)> can_hold, DLDataType* dtype);

// Dovetail_CanHold() of capi.h. Needs the GIL.
int CanHoldType(PyObject* like, DLDataType dtype);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MAKE_BORROWED_H_
