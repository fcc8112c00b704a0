// Imports tensors through Arrow's C Data and C Device Data interfaces.
//
//   absl::StatusOr<Tensor> x = FromArrow(&schema, &array);
//
// An array of numbers is a tensor of one dimension. Each list of a fixed size adds one, and a fixed
// shape tensor several (validate.h).
//
// No copy. Both structs are moved from and marked as released. The schema is released at once; the
// array is released when the last reference to the tensor's Storage is dropped, on that thread.
// Arrow's data are immutable, so the tensor is read-only.

#ifndef DOVETAIL_INTEROP_ARROW_IMPORT_H_
#define DOVETAIL_INTEROP_ARROW_IMPORT_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Takes ownership of both structs; on an error it releases both. InvalidArgument, with a remedy,
// for whatever validate.h refuses. Any thread.
absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowArray* array);

// The same for memory on a device. If there is an event, the current stream waits for it, and that
// stream is recorded as pending work on the memory. InvalidArgument also for an event on the CPU
// and for a device that Arrow does not list. NotFound for an event on a device without a backend.
// A backend that can't wait reports its own error.
absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowDeviceArray* array);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_IMPORT_H_
