// In which order the elements of a new tensor lie in memory.
//
//   absl::StatusOr<Tensor> y = EmptyInOrder(x.layout(), MemoryOrder::kK, kFloat16, x.device());
//
// The four orders are NumPy's. Any thread.

#ifndef DOVETAIL_CORE_MEMORY_ORDER_H_
#define DOVETAIL_CORE_MEMORY_ORDER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class MemoryOrder : uint8_t {
  kC,  // row-major: the last dimension's elements are neighbours
  kF,  // column-major: the first's are
  kA,  // column-major where the other tensor is so, and not row-major too; else row-major
  kK,  // as in the other tensor, without its gaps: dimensions sorted by the size of their strides
};

// New memory, uninitialised and without gaps, of the shape of `like`. Errors as Tensor::Empty.
absl::StatusOr<Tensor> EmptyInOrder(const Layout& like, MemoryOrder order, DType dtype,
                                    Device device);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_MEMORY_ORDER_H_
