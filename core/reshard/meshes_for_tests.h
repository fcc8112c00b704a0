// Meshes and placements for tests, also random ones.

#ifndef DOVETAIL_CORE_RESHARD_MESHES_FOR_TESTS_H_
#define DOVETAIL_CORE_RESHARD_MESHES_FOR_TESTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/reshard/boxes_for_tests.h"
#include "dovetail/core/reshard/sharding.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

inline Placement Shard(int dim, int64_t split_factor = 1) {
  return Placement::Shard(dim, split_factor);
}
inline Placement Replicate() { return Placement::Replicate(); }

// The ranks are first_rank and those after it.
inline Mesh MeshOf(Dims shape, int64_t first_rank = 0) {
  Mesh mesh = {.shape = std::move(shape), .ranks = {}};
  int64_t count = 1;
  for (const int64_t size : mesh.shape) count *= size;
  mesh.ranks.resize(static_cast<size_t>(count));
  std::iota(mesh.ranks.begin(), mesh.ranks.end(), first_rank);
  return mesh;
}

inline Sharding OnMesh(const std::vector<int64_t>& shape, const Mesh& mesh,
                       const std::vector<Placement>& placements) {
  return *Sharding::OnMesh(shape, mesh, placements);
}

struct PlacedMesh {
  Mesh mesh;
  std::vector<Placement> placements;
};

// At most three dimensions, for a tensor of so many. Any ranks, in any order; some are left out.
inline PlacedMesh RandomMesh(std::mt19937& random, int64_t tensor_dims, int64_t longest) {
  PlacedMesh result;
  int64_t count = 1;
  for (int64_t dims = RandomNumber(random, 0, 3); dims > 0; --dims) {
    result.mesh.shape.push_back(RandomNumber(random, 1, longest));
    count *= result.mesh.shape.back();
    const auto dim = static_cast<int>(RandomNumber(random, -1, tensor_dims - 1));
    const int64_t split = RandomNumber(random, 0, 2) == 0 ? RandomNumber(random, 2, 7) : 1;
    result.placements.push_back(dim < 0 ? Replicate() : Shard(dim, split));
  }
  std::vector<int64_t> ranks(static_cast<size_t>(count + RandomNumber(random, 0, 3)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::shuffle(ranks.begin(), ranks.end(), random);
  result.mesh.ranks.assign(ranks.begin(), ranks.begin() + count);
  return result;
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_MESHES_FOR_TESTS_H_
