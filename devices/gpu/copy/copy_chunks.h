// A strided copy in chunks of a bounded size, which go through staging memory one by one.
//
//   ForEachChunk(CopyChunk(dst, src), 1 << 20, [&](const CopyChunk& chunk) {
//     return Copy(chunk.dst(), chunk.src());
//   });
//
// A chunk owns its shape and strides and borrows the memory. A copy of elements that share bytes is
// one chunk.

#ifndef DOVETAIL_DEVICES_GPU_COPY_COPY_CHUNKS_H_
#define DOVETAIL_DEVICES_GPU_COPY_COPY_CHUNKS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class CopyChunk {
 public:
  // All of a copy.
  CopyChunk(const TensorView& dst, const TensorView& src);

  TensorView dst() const { return View(dst_, dst_strides_); }
  TensorView src() const { return View(src_, src_strides_); }
  // A row-major view of the chunk's shape without gaps, at `data` on `device`, packed as `like` is.
  TensorView Dense(void* data, Device device, const TensorView& like) const;

  int64_t num_elements() const;
  int64_t nbytes() const;  // of Dense(): the larger of both packings

  // The first dimension of more than one index, or -1.
  int OuterDimension() const;
  internal_loop_nest::Loop loop(int dim) const {
    return {shape_[dim], dst_strides_[dim], src_strides_[dim]};
  }
  // The indices [begin, begin + size) of dimension `dim`.
  CopyChunk Slice(int dim, int64_t begin, int64_t size) const;
  // False if elements share bytes.
  bool can_be_sliced() const;

 private:
  using Dims = absl::InlinedVector<int64_t, 6>;
  TensorView View(const TensorView& of, const Dims& strides) const;

  TensorView dst_, src_;  // without shape and strides
  Dims shape_, dst_strides_, src_strides_, dense_strides_;
};

// Calls take(chunk) for chunks of at most `most_bytes` (of nbytes()) that make up `whole`, until
// one fails. A single element, or a copy that can't be sliced, may be larger.
absl::Status ForEachChunk(const CopyChunk& whole, int64_t most_bytes,
                          absl::FunctionRef<absl::Status(const CopyChunk&)> take);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_COPY_CHUNKS_H_
