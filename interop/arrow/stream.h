// Imports the one array of an Arrow stream, such as a column that some library exports in pieces.
//
//   absl::StatusOr<Tensor> x = FromArrow(&stream);
//
// Source: arrow.apache.org/docs/format/CStreamInterface.html.

#ifndef DOVETAIL_INTEROP_ARROW_STREAM_H_
#define DOVETAIL_INTEROP_ARROW_STREAM_H_

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Takes ownership of the stream and releases it before it returns; the tensor holds the array, as
// in import.h. Arrays without elements are passed over; a stream of nothing else makes a tensor
// without elements. Any thread. Errors:
//   InvalidArgument  several arrays, a million arrays without elements in a row, a stream without
//                    its functions, or what import.h refuses, with a remedy
//   Internal         the producer failed; its message
//   Cancelled        stopped by core/internal/threads/interruption.h
absl::StatusOr<Tensor> FromArrow(ArrowArrayStream* stream);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_STREAM_H_
