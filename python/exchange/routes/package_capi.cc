#include "dovetail/python/exchange/routes/package_capi.h"

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/interned_name.h"
#include "dovetail/python/exchange/routes/capi_table.h"

namespace nb = nanobind;

namespace dovetail::python {

const DovetailCApi* FindPackagesCApi() {
  static constinit InternedName module_name("dovetail._core");
  static constinit InternedName attribute_name(DOVETAIL_CAPI_ATTRIBUTE);
  const nb::object module = nb::steal(PyImport_GetModule(module_name.get()));
  const nb::object capsule = module.is_valid()
                                 ? nb::steal(PyObject_GetAttr(module.ptr(), attribute_name.get()))
                                 : nb::object();
  const auto* api = capsule.is_valid() ? static_cast<const DovetailCApi*>(PyCapsule_GetPointer(
                                             capsule.ptr(), DOVETAIL_CAPI_CAPSULE))
                                       : nullptr;
  PyErr_Clear();
  return api == nullptr || api == CApiTable() || api->major != DOVETAIL_CAPI_MAJOR ? nullptr : api;
}

}  // namespace dovetail::python
