// Fills a DovetailBorrowed, the borrowed tensor of the C interface (capi.h).
//
//   FillBorrowed(view.data, device, dtype, rank, shape, strides, flags, borrowed);
//
// Shape and strides are copied: an object may free its own while it lives, as `array.shape = …`
// does in NumPy.

#ifndef DOVETAIL_PYTHON_EXCHANGE_BORROW_FILL_H_
#define DOVETAIL_PYTHON_EXCHANGE_BORROW_FILL_H_

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/device.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

static_assert(DOVETAIL_MAX_NDIM == Layout::kMaxRank);

// `lent` is what a library says of its tensor. Strides may be NULL: row-major. False for a rank
// that there is no room for.
inline bool FillBorrowed(const DLTensor& lent, uint64_t flags, DovetailBorrowed* borrowed) {
  const int32_t ndim = lent.ndim;
  if (ndim < 0 || ndim > DOVETAIL_MAX_NDIM) return false;
  borrowed->tensor = lent;
  borrowed->tensor.shape = borrowed->shape;
  borrowed->tensor.strides = borrowed->strides;
  for (int32_t i = 0; i < ndim; ++i) borrowed->shape[i] = lent.shape[i];
  if (lent.strides != nullptr) {
    for (int32_t i = 0; i < ndim; ++i) borrowed->strides[i] = lent.strides[i];
  } else {
    int64_t stride = 1;
    for (int32_t i = ndim - 1; i >= 0; --i) {
      borrowed->strides[i] = stride;
      stride *= lent.shape[i];
    }
  }
  if (lent.byte_offset != 0 && IsAddressable(static_cast<DeviceType>(lent.device.device_type))) {
    borrowed->tensor.data = static_cast<char*>(lent.data) + lent.byte_offset;
    borrowed->tensor.byte_offset = 0;
  }
  borrowed->flags = flags;
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
  return true;
}

// Holds a managed tensor until Dovetail_Release(). Takes ownership.
inline bool HoldBorrowed(UniqueDLPack managed, DovetailBorrowed* borrowed) {
  if (!FillBorrowed(managed->dl_tensor, managed->flags, borrowed)) return false;
  borrowed->held = managed.release();
  return true;
}

// Holds a tensor until Dovetail_Release(). Can't fail: a Tensor has no higher rank.
inline void HoldBorrowed(const Tensor& tensor, bool is_copied, DovetailBorrowed* borrowed) {
  HoldBorrowed(ToDLPackUnordered(tensor, is_copied), borrowed);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BORROW_FILL_H_
