// The functions of capi.h for an extension that links the exchange library.

#include "dovetail/devices/register_default.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/routes/capi_table.h"

extern "C" const DovetailCApi* DovetailLinkedCApi() {
  static const bool registered = (dovetail::RegisterDefaultBackends(), true);  // for copies
  (void)registered;
  return dovetail::python::CApiTable();
}
