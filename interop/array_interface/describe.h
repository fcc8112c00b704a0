// What an __array_interface__ says, as memory that a tensor can be made of; without Python's
// header.
//
//   BufferLayout out;
//   absl::Status s = DescribeArray({.typestr = "<f4", .shape = shape, .data = p, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// Nothing is owned. __cuda_array_interface__ has the same fields and more
// (interop/cuda_array). Source: numpy.org/doc/stable/reference/arrays.interface.html. Any thread.

#ifndef DOVETAIL_INTEROP_ARRAY_INTERFACE_DESCRIBE_H_
#define DOVETAIL_INTEROP_ARRAY_INTERFACE_DESCRIBE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/interop/buffer/strided.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct ArrayDescription {
  std::string_view typestr;
  absl::Span<const int64_t> shape;
  std::optional<absl::Span<const int64_t>> strides;  // bytes; none: row-major
  void* data = nullptr;                              // element 0
  bool read_only = false;
  bool has_mask = false;
  // Where the memory is a buffer that tells its size: the elements must lie inside.
  std::optional<absl::Span<const char>> within;
};

// InvalidArgument, with what to do, for what typestr.h and strided.h refuse, a mask, strides of
// another length than the shape and elements outside the buffer. `out` is filled on success only.
absl::Status DescribeArray(const ArrayDescription& array, BufferLayout* out);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARRAY_INTERFACE_DESCRIBE_H_
