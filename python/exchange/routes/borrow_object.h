// Borrows any object for a call of an extension's function: DovetailCApi.borrow.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_

#include <Python.h>

#include "dovetail/python/capi.h"

namespace dovetail::python {

// What Dovetail_Borrow() says. Needs the GIL.
int BorrowObject(PyObject* object, const DovetailRequirements* wanted, DovetailCall* call,
                 DovetailBorrowed* borrowed);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_BORROW_OBJECT_H_
