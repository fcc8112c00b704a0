#include "dovetail/python/exchange/peers/torch/torch_assumption.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"

namespace nb = nanobind;

namespace dovetail::python {

nb::object EvaluateTorch(const char* expression) {
  const std::string code = absl::StrCat("torch.inference_mode(False)(lambda: ", expression, ")()");
  const nb::object torch = nb::steal(PyImport_ImportModule("torch"));
  const nb::object names = nb::steal(PyDict_New());
  nb::object value;
  if (torch.is_valid() && names.is_valid() &&
      PyDict_SetItemString(names.ptr(), "torch", torch.ptr()) == 0) {
    value = nb::steal(PyRun_String(code.c_str(), Py_eval_input, names.ptr(), names.ptr()));
  }
  if (!value.is_valid()) ForgetException();
  return value;
}

}  // namespace dovetail::python
