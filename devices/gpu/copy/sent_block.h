// SentBlock: the elements of a view as one dense block, the form in which they go from one device
// to another.
//
//   const SentBlock block(src, dst);
//   Copy(block.ImageOfOnce(memory, device), block.once());     // packs; not needed if is_dense()
//   ... send block.nbytes() ...
//   Copy(dst, block.Image(received, device));                  // unpacks
//
// Dimensions along which the view repeats itself (steps of 0) are sent once. Borrows the view's
// memory, shape and strides.

#ifndef DOVETAIL_DEVICES_GPU_COPY_SENT_BLOCK_H_
#define DOVETAIL_DEVICES_GPU_COPY_SENT_BLOCK_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/tensor_view.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class SentBlock {
 public:
  // The block has the order in which the view's memory lies if that is dense, else the order of
  // the elements of `like`, a view of the same shape.
  SentBlock(const TensorView& view, const TensorView& like);
  SentBlock(const SentBlock&) = delete;
  SentBlock& operator=(const SentBlock&) = delete;

  // Whether the view's own memory is the block, which then starts at own_data().
  bool is_dense() const { return own_data_ != nullptr; }
  void* own_data() const { return own_data_; }
  bool repeats() const { return repeats_; }
  size_t nbytes() const { return nbytes_; }

  // The view, with one index of each repeated dimension.
  TensorView once() const;
  // The same elements, and all of the view's, in a block at `data`.
  TensorView ImageOfOnce(void* data, Device device) const;
  TensorView Image(void* data, Device device) const;

 private:
  using Dims = absl::InlinedVector<int64_t, 6>;

  const TensorView view_;
  Dims once_;     // the shape of once()
  Dims strides_;  // of the images
  bool repeats_ = false;
  void* own_data_ = nullptr;
  int64_t offset_ = 0;  // bytes from the start of the block to element 0
  size_t nbytes_ = 0;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_SENT_BLOCK_H_
