// Pieces of a strided copy: the same copy as several, none of more than so many bytes.
//
//   ForEachPiece(dst, src, 1 << 20, [&](CopyPiece piece) { return Copy(piece.dst(), piece.src());
//   });
//
// A piece owns its shape and strides, not the memory. Elements that share bytes are not parted.

#ifndef DOVETAIL_DEVICES_GPU_PIECES_H_
#define DOVETAIL_DEVICES_GPU_PIECES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class CopyPiece {
 public:
  // All of a copy.
  CopyPiece(const TensorView& dst, const TensorView& src);

  TensorView dst() const { return View(dst_, dst_strides_); }
  TensorView src() const { return View(src_, src_strides_); }
  // The elements one after the other, row-major, at `data` on `device`, packed as `like` is.
  TensorView Dense(void* data, Device device, const TensorView& like) const;

  int64_t num_elements() const;
  int64_t nbytes() const;  // of Dense; the larger of both packings

  // The part [begin, begin + size) of dimension `dim`.
  CopyPiece Part(int dim, int64_t begin, int64_t size) const;
  // The first dimension of more than one, or -1.
  int OuterDimension() const;
  int64_t size(int dim) const { return shape_[dim]; }
  bool may_part() const;

 private:
  using Dims = absl::InlinedVector<int64_t, 6>;
  TensorView View(const TensorView& of, const Dims& strides) const;

  TensorView dst_, src_;  // without shape and strides
  Dims shape_, dst_strides_, src_strides_, dense_strides_;
};

absl::Status ForEachPiece(const CopyPiece& whole, int64_t most_bytes,
                          absl::FunctionRef<absl::Status(const CopyPiece&)> take);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_PIECES_H_
