// Borrows any object for a call of an extension's function: DovetailCApi.borrow.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_

#include <Python.h>

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

// For a tensor on the CPU that was borrowed from elsewhere, and that Fits() is false of: replaces
// it by a copy that fits, where the requirements allow one. 0, or as Dovetail_Borrow(). Needs the
// GIL.
int BorrowMisfit(const DovetailRequirements& wanted, DovetailCall* call,
                 DovetailBorrowed* borrowed);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
