// Borrows any object for a call of an extension's function: DovetailCApi.borrow.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_

#include <Python.h>

#include "absl/status/status.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/fit/fits.h"

namespace dovetail::python {

// What Dovetail_Borrow() says. Needs the GIL.
int BorrowObject(PyObject* object, const DovetailRequirements* wanted, DovetailCall* call,
                 DovetailBorrowed* borrowed);

// Whether a converted copy, which the requirements allow, would meet them.
bool CopyMayHelp(internal_fit::Want misfit, const DovetailBorrowed& borrowed,
                 const DovetailRequirements& wanted, const DovetailCall& call);

// The same of an exact torch.Tensor or torch.nn.Parameter, on a thread that is in no mode of
// PyTorch.
int BorrowTorchObject(PyObject* object, const DovetailRequirements& wanted, DovetailCall* call,
                      DovetailBorrowed* borrowed);

// Replaces a tensor on the CPU, which nothing holds, by a dense copy of the wanted order, and if
// `is_cast`, of the wanted type. Any thread, without Python.
absl::Status CopyLent(const DovetailRequirements& wanted, const DovetailCall& call, bool is_cast,
                      DovetailBorrowed* borrowed);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
