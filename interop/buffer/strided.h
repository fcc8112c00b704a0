// Converts memory as Python's protocols describe it (element 0, a shape, strides in bytes) to what
// a tensor needs (the bytes that the strides reach, strides in elements). The buffer protocol,
// __array_interface__ and __cuda_array_interface__ share this code.
//
//   BufferLayout out;
//   absl::Status s = DescribeStrided({.data = p, .dtype = kInt32, .rank = 2, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// DescribeStrided owns nothing. Any thread.

#ifndef DOVETAIL_INTEROP_BUFFER_STRIDED_H_
#define DOVETAIL_INTEROP_BUFFER_STRIDED_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct StridedDescription {
  void* data = nullptr;  // element 0
  DType dtype = {};
  int64_t rank = 0;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // in bytes; NULL: row-major
  bool read_only = false;
};

struct BufferLayout {
  DType dtype = {};
  Layout layout = {};
  Access access = Access::kReadWrite;
  void* data = nullptr;     // the lowest byte that the strides reach
  size_t nbytes = 0;        // from there to the highest byte that the strides reach
  int64_t byte_offset = 0;  // of element 0 from `data`
};

// Fills `out` on success only. InvalidArgument for sizes and strides that layout.h refuses, strides
// that are not multiples of the element's size, elements without memory, and memory beyond the
// address space.
absl::Status DescribeStrided(const StridedDescription& memory, BufferLayout* out);

// A tensor over the memory; `release` runs when its last reference is dropped. If this throws
// std::bad_alloc, ownership stays with the caller and `release` is not called.
Tensor AdoptBuffer(BufferLayout&& memory, Device device, Storage::Release release);

// Writes one stride in bytes for each dimension. A stride without a meaning (a dimension of size 0
// or 1, or no elements) gets the value of a dense tensor, because consumers read all of them.
void FillByteStrides(const Layout& layout, int64_t itemsize, int64_t* strides);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_STRIDED_H_
