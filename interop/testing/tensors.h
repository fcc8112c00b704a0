// Small tensors for the tests of doors to other libraries. No backend is needed.
//
//   Iota({2, 3})                              // float32: 0, 1, 2, … in row-major order
//   Zeros({2, 3}, kFloat16)                   // any element type
//   Zeros({2, 3}, kFloat32, Device::Cuda(0))  // says that it is on a GPU
//
// Each owns its memory.

#ifndef DOVETAIL_INTEROP_TESTING_TENSORS_H_
#define DOVETAIL_INTEROP_TESTING_TENSORS_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T = float>
Tensor Iota(absl::Span<const int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[static_cast<size_t>(i)] = static_cast<T>(i);
  return *Tensor::Wrap(std::move(values), shape);
}

inline Tensor Zeros(absl::Span<const int64_t> shape, DType dtype, Device device = Device::Cpu()) {
  Layout layout = *Layout::Contiguous(shape);
  const auto nbytes = static_cast<size_t>(layout.num_elements() * dtype.itemsize());
  void* const data = std::calloc(nbytes, 1);
  return *Tensor::Make(Storage::Adopt(data, nbytes, device, {&std::free, data}), 0, dtype,
                       std::move(layout), {});
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TESTING_TENSORS_H_
