#include "dovetail/python/exchange/peers/tvm_ffi.h"

#include "dlpack/dlpack.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/protocols/fill.h"
#include "dovetail/python/kernels/tvm_ffi.h"

namespace dovetail::python {
namespace {

using internal_kernels::TvmObject;

// The object behind `x`. kNotTaken for one of another layout, and for a class without handles.
ExchangeResult Find(PyObject* x, const TvmObject** found) {
  static constinit InternedName name("__chandle__");
  PyObject* const handle = PyObject_CallMethodNoArgs(x, name.get());
  if (handle != nullptr) {
    *found = static_cast<const TvmObject*>(PyLong_AsVoidPtr(handle));
    Py_DECREF(handle);
  }
  if (handle == nullptr || (*found == nullptr && PyErr_Occurred() != nullptr)) [[unlikely]] {
    return ForgetException() ? ExchangeResult::kNotTaken : ExchangeResult::kError;
  }
  if (*found == nullptr) {
    RaiseExchange("The tvm_ffi.Tensor has no object: it was not initialised, or moved from.");
    return ExchangeResult::kError;
  }
  const bool is_tensor = (*found)->type == internal_kernels::kTvmTensor;
  return is_tensor ? ExchangeResult::kDone : ExchangeResult::kNotTaken;
}

}  // namespace

ExchangeResult BorrowTvmFfiTensor(PyObject* x, DovetailBorrowed* borrowed) {
  if (tvm_ffi_tensor.exchange_api() != nullptr) {
    return BorrowByExchangeApi(tvm_ffi_tensor, x, borrowed);
  }
  const TvmObject* found = nullptr;
  const ExchangeResult result = Find(x, &found);
  if (result != ExchangeResult::kDone) return result;
  const DLTensor& lent = *reinterpret_cast<const DLTensor*>(found + 1);
  if (lent.device.device_type != kDLCPU) return ExchangeResult::kNotTaken;
  if (FillBorrowed(lent, /*flags=*/0, borrowed)) [[likely]]
    return ExchangeResult::kDone;
  return RaiseDefect(lent, /*flags=*/0);
}

}  // namespace dovetail::python
