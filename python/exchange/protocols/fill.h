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
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/parse.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/exchange/base/error.h"

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

// Writes shape and strides into a borrowed tensor, for Parse().
struct BorrowedDims {
  static constexpr bool kKeeps = true;
  DovetailBorrowed* borrowed;

  void Begin(int32_t, int64_t** shape, int64_t** strides) {
    *shape = borrowed->shape;
    *strides = borrowed->strides;
  }
  void Finish(int32_t, int64_t) {}
  void Abandon(int32_t) {}
};

// `lent` is what a library says of its tensor. Strides may be NULL: row-major. False for what an
// import refuses (parse.h); `borrowed` is then unspecified.
[[gnu::always_inline]] inline bool FillBorrowed(const DLTensor& lent, uint64_t flags,
                                                DovetailBorrowed* borrowed) {
  ParsedTensor parsed;
  if (Parse(lent, flags, BorrowedDims{borrowed}, &parsed) != Defect::kNone) [[unlikely]]
    return false;
  // Element 0 is at `data` where that is an address.
  const bool has_address = parsed.device.device_type == kDLCPU ||
                           internal_dlpack::FactsOf(parsed.device.device_type).addressable;
  borrowed->tensor = {
      .data = has_address ? static_cast<char*>(parsed.data) + parsed.byte_offset : parsed.data,
      .device = parsed.device,
      .ndim = lent.ndim,
      .dtype = ToDLDataType(ToDType(parsed.dtype)),
      .shape = borrowed->shape,
      .strides = borrowed->strides,
      .byte_offset = has_address ? 0 : static_cast<uint64_t>(parsed.byte_offset)};
  borrowed->flags = flags;
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
  return true;
}

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
