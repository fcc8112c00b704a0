// Fills a DovetailBorrowed, the borrowed tensor of the C interface (capi.h).
//
//   if (!FillBorrowed(lent, /*flags=*/0, borrowed)) return RaiseDefect(lent, /*flags=*/0);
//   FillTrusted(ToDLTensor(tensor.view()), flags, borrowed);      // of a Tensor: nothing to check
//
// What another library says of its tensor passes the checks of an import (fit/fill_borrowed.h).

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/fit/fill_borrowed.h"

namespace dovetail::python {

static_assert(DOVETAIL_MAX_NDIM == Layout::kMaxRank);

// `lent` needs no check: it is a view of a Tensor.
inline void FillTrusted(const DLTensor& lent, uint64_t flags, DovetailBorrowed* borrowed) {
  const int32_t ndim = lent.ndim;
  borrowed->tensor = lent;
  borrowed->tensor.shape = borrowed->shape;
  borrowed->tensor.strides = borrowed->strides;
  for (int32_t i = 0; i < ndim; ++i) borrowed->shape[i] = lent.shape[i];
  for (int32_t i = 0; i < ndim; ++i) borrowed->strides[i] = lent.strides[i];
  borrowed->flags = flags;
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
}

using internal_fit::FillBorrowed;

// Sets the error of an import that Parse() refuses. Returns kError. Needs the GIL.
[[gnu::cold]] ExchangeResult RaiseDefect(const DLTensor& lent, uint64_t flags);

// Holds a tensor until Dovetail_Release().
inline void HoldBorrowed(const Tensor& tensor, bool is_copied, DovetailBorrowed* borrowed) {
  UniqueDLPack managed = ToDLPackUnordered(tensor, is_copied);
  FillTrusted(managed->dl_tensor, managed->flags, borrowed);
  borrowed->held = managed.release();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_
