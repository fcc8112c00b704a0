// The values of a tensor as text, as Python's repr of it.
//
//   std::string text = FormatValues(x);
//   // tensor([[10.0000,  0.3000],
//   //         [ 0.1000,  2.0000]])
//
// The rules are PyTorch's: columns are aligned; floats have four digits, or none where all are
// integers, or an exponent where their range is wide; above 1000 elements only the first and last
// three of each dimension are shown. The type is named where it is none of float32, int64, bool and
// complex64, the device where it is not the CPU. Tensor::ToString tells a tensor's type and shape
// without its values.

#ifndef DOVETAIL_CORE_FORMAT_VALUES_H_
#define DOVETAIL_CORE_FORMAT_VALUES_H_

#include <string>
#include <string_view>

#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Waits for the work that is pending on the tensor; memory that the host can't reach is copied. A
// tensor whose values can't be had (one of vectors or handles, or on a device without backend)
// prints its shape, type and device instead. `mark` is one more word before the closing bracket.
// Any thread.
std::string FormatValues(const Tensor& tensor, std::string_view mark = "");

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_FORMAT_VALUES_H_
