// Exports tensors through Arrow's C Data and C Device Data interfaces.
//
//   ArrowSchema schema;
//   ArrowArray array;
//   absl::Status s = ToArrow(tensor, &schema, &array);     // the caller must release both
//
// No copy: the array holds a reference to the tensor's Storage until its `release` is called, on
// any thread. Arrow's data are immutable: do not write to the tensor while the consumer has them.
//
// A tensor of shape (1000, 2, 3) is an array of 1000 lists of 2 lists of 3 numbers, or of 1000
// fixed shape tensors (fixed_shape.h).

#ifndef DOVETAIL_INTEROP_ARROW_EXPORT_H_
#define DOVETAIL_INTEROP_ARROW_EXPORT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// What holds the dimensions after the first.
enum class ArrowNesting : uint8_t {
  kLists,             // lists of a fixed size, one for each dimension; row-major
  kFlatLists,         // one list of all the elements, as fixed shape tensors store them; row-major
  kFixedShapeTensor,  // the extension type; its dimensions may lie in memory in any order
};

struct ToArrowOptions {
  ArrowNesting nesting = ArrowNesting::kLists;
};

// Overwrites both structs; on an error they stay unchanged. The data are ready: the host waits for
// all pending work on the memory first. InvalidArgument, with a remedy, for a tensor without
// dimensions or with gaps between its elements, for a type that Arrow lacks, and for memory that
// the host can't access. A backend that can't wait reports its own error. Any thread.
absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array,
                     const ToArrowOptions& options = {});

// The same for memory on any device that Arrow lists. sync_event is NULL: the data are ready.
absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowDeviceArray* array,
                     const ToArrowOptions& options = {});

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_EXPORT_H_
