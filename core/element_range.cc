#include "dovetail/core/element_range.h"

#include "dovetail/core/internal/odometer.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_element_range {
namespace {

// The dimensions as loops, the last dimension first.
struct Dimensions {
  const Layout& layout;
  internal_loop_nest::ElementLoop operator[](int i) const {
    const int dim = layout.rank() - 1 - i;
    return {layout.shape(dim), layout.stride(dim)};
  }
};

}  // namespace

int64_t Position::NextRow() {
  internal_loop_nest::ElementLoop::Offsets moved;
  internal_loop_nest::NextIteration(Dimensions{*layout_}, layout_->rank(), index_.data(), &moved);
  return moved.offset;
}

}  // namespace internal_element_range
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
