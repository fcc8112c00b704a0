// Tensors out, over Arrow's C Data and C Device Data interfaces.
//
//   ArrowSchema schema;
//   ArrowArray array;
//   absl::Status s = ToArrow(tensor, &schema, &array);     // both are then the caller's to release
//
// No copy: the array holds a reference to the tensor's Storage until its `release` is called, which
// may be on any thread. Arrow's data never change: who writes to the tensor meanwhile breaks that
// promise to the consumer.

#ifndef DOVETAIL_INTEROP_ARROW_EXPORT_H_
#define DOVETAIL_INTEROP_ARROW_EXPORT_H_

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Fills in the structs, whatever was in them; on an error they are left as they are. The data are
// ready: the host waits for the streams that were given work on the memory. InvalidArgument, with
// what to do, for a tensor that is not of one dimension and dense, for a type that Arrow has no
// numbers for, and for memory that the host does not reach; what the backend says when it can't
// wait. Any thread.
absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array);

// The same for memory on any device that Arrow lists. There is no event to wait for (sync_event).
absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowDeviceArray* array);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_EXPORT_H_
