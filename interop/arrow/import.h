// Tensors in, over Arrow's C Data and C Device Data interfaces.
//
//   absl::StatusOr<Tensor> x = FromArrow(&schema, &array);
//
// No copy: the structs are moved out of their places (which are marked as released), the schema is
// released at once, and the array when the last reference to the tensor's Storage is dropped, on
// whichever thread that is. Arrow's data never change, so the tensor is read-only.

#ifndef DOVETAIL_INTEROP_ARROW_IMPORT_H_
#define DOVETAIL_INTEROP_ARROW_IMPORT_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Takes ownership of both, in failure too: both are then released. InvalidArgument, with what to
// do, for what validate.h refuses. Any thread.
absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowArray* array);

// The same for memory of a device. Where there is an event to wait for, our default stream waits
// for it, and the tensor keeps in mind that this stream has to be waited for. InvalidArgument, too,
// for an event on the CPU and a device that Arrow does not list; NotFound for an event where no
// backend serves the device, and what the backend says where it can't wait.
absl::StatusOr<Tensor> FromArrow(ArrowSchema* schema, ArrowDeviceArray* array);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_IMPORT_H_
