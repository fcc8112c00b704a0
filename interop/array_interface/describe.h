// Checks the fields of an __array_interface__ dict and turns them into a BufferLayout. Needs no
// Python header.
//
//   BufferLayout out;
//   absl::Status s = DescribeArray({.typestr = "<f4", .shape = shape, .data = p, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// Owns nothing. __cuda_array_interface__ (interop/cuda_array) has these fields and a few more.
// Source: numpy.org/doc/stable/reference/arrays.interface.html. Any thread.

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
  std::string_view typestr = {};
  absl::Span<const int64_t> shape = {};
  std::optional<absl::Span<const int64_t>> strides = {};  // in bytes; nullopt: row-major
  void* data = nullptr;                                   // element 0
  bool read_only = false;
  bool has_mask = false;
  // The buffer that holds the elements, if its size is known: elements outside it are an error.
  std::optional<absl::Span<const char>> within = {};
};

// Fills `out` on success only. InvalidArgument, with a remedy, for a mask, for strides that do not
// match the shape's length, for elements outside the buffer, and for whatever typestr.h and
// strided.h refuse.
absl::Status DescribeArray(const ArrayDescription& array, BufferLayout* out);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARRAY_INTERFACE_DESCRIBE_H_
