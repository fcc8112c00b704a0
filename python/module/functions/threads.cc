#include "dovetail/python/module/functions/functions.h"

#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"

namespace dovetail::python {

PyObject* GetNumThreadsFunction(PyObject*, PyObject*) { return PyLong_FromLong(GetNumThreads()); }

PyObject* SetNumThreadsFunction(PyObject*, PyObject* count) {
  int64_t threads;
  if (!ParseInt(count, &threads)) return nullptr;
  if (absl::Status s = SetNumThreads(threads); !s.ok()) return RaiseStatus(s);
  Py_RETURN_NONE;
}

}  // namespace dovetail::python
