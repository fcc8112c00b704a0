#include "dovetail/python/exchange/base/time_scalar.h"

#include "dovetail/python/exchange/base/peer_type.h"

namespace dovetail::python {

bool IsNumPyTime(PyObject* x) {
  PyTypeObject* const type = Py_TYPE(x);
  return numpy_datetime.IsBaseOf(type) || numpy_timedelta.IsBaseOf(type);
}

}  // namespace dovetail::python
