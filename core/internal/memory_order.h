// New memory in one of NumPy's four memory orders (MemoryOrder, layout.h).
//
//   absl::StatusOr<Tensor> y = EmptyInOrder(x.layout(), MemoryOrder::kK, kFloat16, x.device());
//
// Any thread.

#ifndef DOVETAIL_CORE_INTERNAL_MEMORY_ORDER_H_
#define DOVETAIL_CORE_INTERNAL_MEMORY_ORDER_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// A new tensor with the shape of `like`, uninitialised and without gaps. The errors of
// Tensor::Empty.
absl::StatusOr<Tensor> EmptyInOrder(const Layout& like, MemoryOrder order, DType dtype,
                                    Device device);

// Whether a layout is already in the order, as NumPy's astype() asks before it copies: without gaps
// for all orders but kK, which every layout is in.
bool IsInOrder(const Layout& layout, MemoryOrder order);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_MEMORY_ORDER_H_
