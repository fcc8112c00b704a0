// The dimensions of an Arrow array, collected from the outermost list inwards.
//
//   Dimensions dimensions;
//   absl::Status s = dimensions.Add(array.length);
//   …
//   s = dimensions.Assign(&layout);
//
// Not thread-safe.

#ifndef DOVETAIL_INTEROP_ARROW_DIMENSIONS_H_
#define DOVETAIL_INTEROP_ARROW_DIMENSIONS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/arrow/fixed_shape.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// All errors are InvalidArgument.
class Dimensions {
 public:
  // An error for a negative size and for more than Layout::kMaxRank dimensions.
  absl::Status Add(int64_t size);

  // A tensor in lists of `list_size` elements (nullopt: not in lists). An error also if the lists
  // don't have just its elements.
  absl::Status AddTensor(const FixedShape& tensor, std::optional<int64_t> list_size);

  // An error if the elements or their offsets can't be counted.
  absl::Status Assign(Layout* layout) const;

 private:
  int rank_ = 0;
  bool permuted_ = false;
  int64_t sizes_[Layout::kMaxRank];  // as the elements lie in memory
  int order_[Layout::kMaxRank];      // which of them dimension i is
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_DIMENSIONS_H_
