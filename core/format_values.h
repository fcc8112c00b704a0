// The values of a tensor as text, as Python's repr prints them.
//
//   std::string text = FormatValues(x);
//   // tensor([[10.0000,  0.3000],
//   //         [ 0.1000,  2.0000]])
//
// The rules are PyTorch's. Columns are aligned. Floats have four digits after the point, none if
// all are integers, or an exponent if their range is wide. With more than 1000 elements, only the
// first and last three of each dimension are shown. The type is shown unless it is float32, int64,
// bool or complex64; the device is shown unless it is the CPU. Tensor::ToString prints a tensor's
// type and shape without its values.

#ifndef DOVETAIL_CORE_FORMAT_VALUES_H_
#define DOVETAIL_CORE_FORMAT_VALUES_H_

#include <string>
#include <string_view>

#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Waits for the pending work on the tensor. Of memory that the host can't reach, it copies what is
// shown; of packed elements, all where a part begins within a byte. If the
// values are not available (vector types, handles, devices without a backend), the text has the
// shape, type and device instead. `mark` is an extra word before the closing bracket. Any thread.
std::string FormatValues(const Tensor& tensor, std::string_view mark = "");

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FORMAT_VALUES_H_
