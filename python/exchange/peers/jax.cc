#include "dovetail/python/exchange/peers/jax.h"

#include <nanobind/nanobind.h>

#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/protocols/buffer.h"
#include "dovetail/python/exchange/protocols/dlpack_call.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Refuses an array that has no memory any more: the protocols' own errors do not say so. True
// without an error set for any other.
bool CheckNotDeleted(PyObject* x) {
  static constinit InternedName name("is_deleted");
  const nb::object is_deleted = nb::steal(PyObject_CallMethodNoArgs(x, name.get()));
  if (!is_deleted.is_valid()) return ForgetException();
  if (is_deleted.ptr() != Py_True) return true;
  RaiseExchange(
      "The JAX array has no memory any more: it was deleted, or donated to a function by "
      "donate_argnums.");
  return false;
}

}  // namespace

ExchangeResult BorrowJaxArray(PyObject* x, DovetailBorrowed* borrowed) {
  const ExchangeResult result = BorrowRowMajorBuffer(x, borrowed);
  if (result != ExchangeResult::kNotTaken) return result;
  if (!CheckNotDeleted(x)) return ExchangeResult::kError;
  Tensor tensor;
  bool copied;
  if (!ImportByDLPack(x, {}, &tensor, &copied)) return ExchangeResult::kError;
  HoldBorrowed(tensor, /*is_copied=*/false, borrowed);
  borrowed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return ExchangeResult::kDone;
}

int JaxHasType(DType dtype) {
  const int widest = dtype.kind == TypeKind::kComplex ? 64 : 32;
  if (dtype.bits <= widest) return 1;
  static constinit InternedName jax("jax");
  static constinit InternedName config("config");
  static constinit InternedName enable_x64("jax_enable_x64");
  const nb::object module = nb::steal(PyImport_GetModule(jax.get()));
  if (!module.is_valid()) return PyErr_Occurred() == nullptr ? 1 : -1;
  const nb::object settings = nb::steal(PyObject_GetAttr(module.ptr(), config.get()));
  if (!settings.is_valid()) return -1;
  const nb::object setting = nb::steal(PyObject_GetAttr(settings.ptr(), enable_x64.get()));
  return setting.is_valid() ? PyObject_IsTrue(setting.ptr()) : -1;
}

}  // namespace dovetail::python
