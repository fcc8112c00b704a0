// The functions of the C interface (capi.h), implemented by the exchange library.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_

#include "dovetail/python/capi.h"

namespace dovetail::python {

// Valid for the life of the process. Any thread.
const DovetailCApi* CApiTable();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_CAPI_TABLE_H_
