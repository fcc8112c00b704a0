// convert(x, target, /, *, copy=None): any library's tensor as any other's.
//
//   dt.convert(numpy_array, torch.Tensor)
//   dt.register_converter(MyTensor, MyTensor.from_tensor)
//   dt.convert(x, MyTensor)                                   // by that function
//   dt.convert(x, array_api_strict.Array)                     // by array_api_strict.from_dlpack()
//
// No library is imported unless its class is given, which imports it. A library that is not in the
// table of known classes (peer_table.h) is assumed to write to what it takes, so that read-only
// memory is copied; whether it shared the memory is told by the address of its result. Functions
// return nullptr or false with an error set. All need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_

#include <Python.h>

#include <optional>

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/routes/import_object.h"

namespace dovetail::python {

// How a conversion went, for explain().
struct ConvertTrace {
  ImportTrace import;
  Tensor tensor;                 // of x, where it came in
  const char* misfit = nullptr;  // why the class does not take it without a copy
  bool target_copied = false;    // by a library that is not in the table
};

// convert(x, target, copy=copy), which fills `trace` in.
PyObject* ConvertTraced(PyObject* x, PyObject* target, std::optional<bool> copy,
                        ConvertTrace* trace);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
