#include "dovetail/devices/gpu/copy/sent_block.h"

#include <algorithm>
#include <cstdlib>

#include "dovetail/core/packing.h"
#include "dovetail/devices/gpu/planning/merge.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

SentBlock::SentBlock(const TensorView& view, const TensorView& like)
    : view_(view),
      once_(view.shape.begin(), view.shape.end()),
      strides_(view.strides.begin(), view.strides.end()) {
  for (int i = 0; i < view.rank(); ++i) {
    if (once_[i] <= 1 || strides_[i] != 0) continue;
    once_[i] = 1;
    repeats_ = true;
  }
  // Merged with itself, a dense view is one run, whatever the order and direction of its steps.
  MergedCopy merged;
  const TensorView same = once();
  if (MergeCopy(same, same, &merged).ok() && merged.loops.empty()) {
    own_data_ = merged.dst;
    offset_ = static_cast<unsigned char*>(view.data) - merged.dst;
    nbytes_ = static_cast<size_t>(merged.run_bytes);
    return;
  }
  absl::InlinedVector<int, 6> dims;  // the innermost first
  for (int i = view.rank() - 1; i >= 0; --i) {
    if (once_[i] > 1) dims.push_back(i);
  }
  std::stable_sort(dims.begin(), dims.end(), [&](int a, int b) {
    return std::abs(like.strides[a]) < std::abs(like.strides[b]);
  });
  std::fill(strides_.begin(), strides_.end(), 0);
  int64_t count = 1;
  for (const int dim : dims) {
    strides_[dim] = count;
    count *= once_[dim];
  }
  nbytes_ = static_cast<size_t>(BytesWithoutGaps(count, view.dtype, view.packing));
}

TensorView SentBlock::once() const {
  TensorView once = view_;
  once.shape = once_;
  return once;
}

TensorView SentBlock::Image(void* data, Device device) const {
  TensorView image = view_;
  image.data = static_cast<unsigned char*>(data) + offset_;
  image.device = device;
  image.access = Access::kReadWrite;
  image.strides = strides_;
  return image;
}

TensorView SentBlock::ImageOfOnce(void* data, Device device) const {
  TensorView image = Image(data, device);
  image.shape = once_;
  return image;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
