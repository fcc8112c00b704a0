// Fills a DovetailBorrowed, the borrowed tensor of the C interface (capi.h).
//
//   if (!FillBorrowed(lent, /*flags=*/0, borrowed)) return RaiseDefect(lent, /*flags=*/0);
//   FillTrusted(ToDLTensor(tensor.view()), flags, borrowed);      // of a Tensor: nothing to check
//
// Whatever another library says of its tensor passes the checks of an import, so that no function
// sees a tensor that a Tensor could not be. Shape and strides are copied: an object may free its
// own while it lives, as `array.shape = …` does in NumPy.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/interop/dlpack/validate.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/exchange_result.h"

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

// FillBorrowed() for what its fast branch does not take.
bool FillOther(const DLTensor& lent, uint64_t flags, DovetailBorrowed* borrowed);

// `lent` is what a library says of its tensor. Strides may be NULL: row-major. False for what an
// import refuses (FindDefect); `borrowed` is then unspecified.
[[gnu::always_inline]] inline bool FillBorrowed(const DLTensor& lent, uint64_t flags,
                                                DovetailBorrowed* borrowed) {
  internal_dlpack::PlainTensor plain;
  const auto take_dims = [&](Extent* extent) {
    return lent.ndim >= 0 &&
           internal_layout::WalkPlain<true>(lent.ndim, lent.shape, lent.strides, borrowed->shape,
                                            borrowed->strides, extent) >= 0;
  };
  if (!internal_dlpack::TakePlain(lent, flags, take_dims, &plain)) [[unlikely]]
    return FillOther(lent, flags, borrowed);
  borrowed->tensor = {.data = reinterpret_cast<void*>(plain.first),
                      .device = {kDLCPU, 0},
                      .ndim = lent.ndim,
                      .dtype = ToDLDataType(plain.dtype),
                      .shape = borrowed->shape,
                      .strides = borrowed->strides,
                      .byte_offset = 0};
  borrowed->flags = flags;
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
  return true;
}

// Sets the error of an import that FindDefect() refuses. Returns kError. Needs the GIL.
[[gnu::cold]] ExchangeResult RaiseDefect(const DLTensor& lent, uint64_t flags);

// Holds a tensor until Dovetail_Release().
inline void HoldBorrowed(const Tensor& tensor, bool is_copied, DovetailBorrowed* borrowed) {
  UniqueDLPack managed = ToDLPackUnordered(tensor, is_copied);
  FillTrusted(managed->dl_tensor, managed->flags, borrowed);
  borrowed->held = managed.release();
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_FILL_H_
