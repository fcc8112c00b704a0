#include "dovetail/python/exchange/peers/paddle.h"

#include <nanobind/nanobind.h>

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/managed.h"
#include "dovetail/interop/dlpack/validate.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/protocols/owned_tensor.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

enum class Read { kAttribute, kMethod };

// Whether the attribute, or the result of the method, is True. Only an interrupt leaves its error
// set.
bool IsTrue(PyObject* x, PyObject* name, Read read) {
  nb::object value;
  if (!FindAttribute(x, name, &value)) return ForgetException(), false;
  if (read == Read::kMethod && value.is_valid()) {
    value = nb::steal(HangAtThreadEnd([&] { return PyObject_CallNoArgs(value.ptr()); }));
    if (!value.is_valid()) ForgetException();
  }
  return value.ptr() == Py_True;
}

// Whether the exchange API may be asked for `x`. The API does not check what __dlpack__ refuses,
// and crashes for a tensor that is not dense (Paddle 3.3.1).
bool IsPlain(PyObject* x) {
  static constinit InternedName stop_gradient("stop_gradient");
  static constinit InternedName is_dense("is_dense");
  return IsTrue(x, stop_gradient.get(), Read::kAttribute) &&
         IsTrue(x, is_dense.get(), Read::kMethod);
}

}  // namespace

ExchangeResult ImportPaddleTensor(PyObject* x, Tensor* tensor) {
  if (!IsPlain(x)) return NotTaken();
  // Not a borrowed DLTensor: an assignment to the tensor's data, among others, frees its memory
  // while the tensor lives.
  UniqueDLPack managed;
  const ExchangeResult result = ManagedByExchangeApi(paddle_tensor, x, &managed);
  if (result != ExchangeResult::kDone) return result;
  if (!IsReadable(managed->version) || managed->dl_tensor.device.device_type != kDLCPU ||
      !ImportManaged(managed.get(), tensor).ok()) {
    return ExchangeResult::kNotTaken;
  }
  (void)managed.release();
  return ExchangeResult::kDone;
}

ExchangeResult BorrowPaddleTensor(PyObject* x, DovetailBorrowed* borrowed) {
  return IsPlain(x) ? BorrowByExchangeApi(paddle_tensor, x, borrowed) : NotTaken();
}

}  // namespace dovetail::python
