// Memory as Python's protocols tell of it (element 0, a shape, strides in bytes), and as a tensor
// is made of it (the bytes that are reached, strides in elements). What the buffer protocol,
// __array_interface__ and __cuda_array_interface__ share.
//
//   BufferLayout out;
//   absl::Status s = DescribeStrided({.data = p, .dtype = kInt32, .rank = 2, …}, &out);
//   Tensor t = AdoptBuffer(std::move(out), Device::Cpu(), release);
//
// Describing owns nothing. Any thread.

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
  DType dtype;
  int64_t rank = 0;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // bytes; NULL: row-major
  bool read_only = false;
};

struct BufferLayout {
  DType dtype;
  Layout layout;
  Access access = Access::kReadWrite;
  void* data = nullptr;     // the lowest byte that the strides reach
  size_t nbytes = 0;        // how many bytes from there are reached
  int64_t byte_offset = 0;  // of element 0 among them
};

// InvalidArgument for sizes and offsets that layout.h refuses, strides that are no multiple of the
// element's size, elements without memory and memory beyond the address space. `out` is filled on
// success only.
absl::Status DescribeStrided(const StridedDescription& memory, BufferLayout* out);

// A tensor over memory that `release` gives back. Where memory runs out (std::bad_alloc) nothing
// was taken.
Tensor AdoptBuffer(BufferLayout&& memory, Device device, Storage::Release release);

// The strides in bytes, as many as the layout has dimensions. Where one means nothing (one element,
// or none) it is what a dense tensor has, since consumers look at all of them.
void FillByteStrides(const Layout& layout, int64_t itemsize, int64_t* strides);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_BUFFER_STRIDED_H_
