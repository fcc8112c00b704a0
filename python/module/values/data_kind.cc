#include "dovetail/python/module/values/data_kind.h"

#include <utility>

#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/scalar.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

bool TakeArray(Tensor&& tensor, DataKind* kind, nb::object* array) {
  *kind = DataKind::kArray;
  *array = nb::steal(WrapTensor(std::move(tensor)));
  return array->is_valid();
}

// As a sequence it would be that of its keys.
bool IsMapping(PyObject* data) {
  if (PyList_Check(data) || PyTuple_Check(data)) return false;  // though a field may be named so
  static constinit InternedName keys("keys");
  return _PyType_Lookup(Py_TYPE(data), keys.get()) != nullptr;
}

}  // namespace

bool Classify(PyObject* x, DataKind* kind, nb::object* array) {
  if (IsPythonNumber(x)) return *kind = DataKind::kNumber, true;
  if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return *kind = DataKind::kSequence, true;
  if (IsTensor(x)) {  // it may require gradient, which an import would refuse
    *kind = DataKind::kArray;
    *array = nb::borrow(x);
    return true;
  }
  Tensor tensor;
  ExchangeResult result = TryImport(x, kTensorData, {}, &tensor);
  if (result == ExchangeResult::kNotTaken) {
    bool is_number;
    if (!HasNumberProtocol(x, &is_number)) return false;
    if (is_number) return *kind = DataKind::kNumber, true;
    result = TryImport(x, kMemoryData, {}, &tensor);
  }
  if (result == ExchangeResult::kError) return false;
  if (result == ExchangeResult::kDone) return TakeArray(std::move(tensor), kind, array);
  const bool is_sequence = PySequence_Check(x) && !PyUnicode_Check(x) && !IsMapping(x);
  *kind = is_sequence ? DataKind::kSequence : DataKind::kOther;
  return true;
}

bool FindNumber(PyObject* x, bool* is_number) {
  *is_number = IsPythonNumber(x);
  if (*is_number || IsTensor(x)) return true;
  bool has_dlpack;
  if (!FindDLPack(x, &has_dlpack)) return false;
  return has_dlpack || HasNumberProtocol(x, is_number);
}

bool RaiseNoData(const std::string& what, PyObject* data) {
  PyErr_Format(
      PyExc_TypeError, "%s is %.200s; expected a number, a sequence or an array%s", what.c_str(),
      Py_TYPE(data)->tp_name,
      IsMapping(data) ? ", and not a mapping: give its values, as in list(x.values())" : "");
  return false;
}

}  // namespace dovetail::python
