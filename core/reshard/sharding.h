// Sharding: which elements of a tensor each rank has, and where they are in the rank's own tensors.
//
//   Mesh mesh = {.shape = {2, 4}, .ranks = {0, 1, 2, 3, 4, 5, 6, 7}};
//   absl::StatusOr<Sharding> rows =
//       Sharding::OnMesh({4096, 4096}, mesh, {Placement::Shard(0), Placement::Replicate()});
//
// Ranks may have elements in common; one rank has each element at most once. Immutable.

#ifndef DOVETAIL_CORE_RESHARD_SHARDING_H_
#define DOVETAIL_CORE_RESHARD_SHARDING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/reshard/box.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

using Dims = absl::InlinedVector<int64_t, 4>;

// An array of ranks, in row-major order.
struct Mesh {
  Dims shape;
  std::vector<int64_t> ranks;
};

// What a dimension of the mesh does, as in PyTorch's DTensor: all ranks along it have the same
// elements, or each has a chunk of a dimension of the tensor.
struct Placement {
  int dim = -1;              // -1: Replicate
  int64_t split_factor = 1;  // > 1: PyTorch's _StridedShard, a chunk of each of so many chunks

  static Placement Replicate() { return {}; }
  static Placement Shard(int dim, int64_t split_factor = 1) { return {dim, split_factor}; }
};

// Elements of the whole tensor that a rank has: a box of one of its own tensors.
struct Part {
  Box box;     // not empty
  int rank;    // who has it
  int local;   // the number of the rank's own tensor
  Dims start;  // where the box begins in that
};

class Sharding {
 public:
  static constexpr int64_t kMaxRanks = int64_t{1} << 20;
  // The ranks of a mesh times its split factors. A chunk takes about 1 KB in a Plan.
  static constexpr int64_t kMaxChunks = int64_t{1} << 20;

  // The placements are applied from the first dimension of the mesh to the last. A chunk has
  // ceil(size / ranks) indices, as torch.chunk has it, and the last ones fewer or none. Each rank
  // of the mesh has one tensor. InvalidArgument for what is no mesh or no dimension, and for more
  // than kMaxChunks.
  static absl::StatusOr<Sharding> OnMesh(absl::Span<const int64_t> shape, const Mesh& mesh,
                                         absl::Span<const Placement> placements);

  // boxes[rank] has a box for each tensor of the rank. InvalidArgument if one does not lie in the
  // shape, or two of one rank have elements in common.
  static absl::StatusOr<Sharding> OfBoxes(absl::Span<const int64_t> shape,
                                          const std::vector<std::vector<Box>>& boxes);

  absl::Span<const int64_t> shape() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return shape_; }

  // One more than the highest rank of the mesh, or the number of ranks for which boxes were given.
  int size() const { return static_cast<int>(locals_.size()); }

  // By rank, by tensor, and in row-major order of the places in that.
  absl::Span<const Part> parts() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return parts_; }
  absl::Span<const Part> parts(int rank) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

  // The shapes of the rank's own tensors.
  absl::Span<const Dims> locals(int rank) const ABSL_ATTRIBUTE_LIFETIME_BOUND;

 private:
  // Sorts parts_ by rank and sets first_. `size` as above.
  void IndexParts();

  Dims shape_;
  std::vector<Part> parts_;
  std::vector<size_t> first_;              // of each rank in parts_, and one more
  std::vector<std::vector<Dims>> locals_;  // of each rank
};

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_SHARDING_H_
