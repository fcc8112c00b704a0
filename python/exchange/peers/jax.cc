#include "dovetail/python/exchange/peers/jax.h"

#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/buffer.h"
#include "dovetail/python/exchange/protocols/dlpack_call.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace dovetail::python {

ExchangeResult BorrowJaxArray(PyObject* x, DovetailBorrowed* borrowed) {
  Tensor tensor;
  if (!ImportBuffer(x, &tensor)) {
    if (!ForgetException()) return ExchangeResult::kError;
    bool copied;
    if (!ImportByDLPack(x, {}, &tensor, &copied)) return ExchangeResult::kError;
  }
  HoldBorrowed(tensor, /*is_copied=*/false, borrowed);
  borrowed->flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
  return ExchangeResult::kDone;
}

}  // namespace dovetail::python
