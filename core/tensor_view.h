// TensorView: a borrowed description of a tensor. Backends copy between views. A view has the same
// facts as a DLTensor.
//
//   TensorView v = tensor.view();       // borrows: valid while `tensor` is alive and unchanged
//
// Plain data: copying one copies no elements and counts nothing.

#ifndef DOVETAIL_CORE_TENSOR_VIEW_H_
#define DOVETAIL_CORE_TENSOR_VIEW_H_

#include <cstdint>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class Access : uint8_t { kReadWrite, kReadOnly };

struct TensorView {
  void* data = nullptr;     // element 0; on devices that are not addressable, the opaque handle
  int64_t byte_offset = 0;  // from an opaque handle to element 0; 0 on addressable devices
  Device device = {};
  DType dtype = {};
  Access access = Access::kReadWrite;
  Packing packing = Packing::kPacked;
  absl::Span<const int64_t> shape = {};    // elements
  absl::Span<const int64_t> strides = {};  // elements, as long as shape

  int rank() const { return static_cast<int>(shape.size()); }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TENSOR_VIEW_H_
