#include "dovetail/core/reshard/sharding.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/reshard/boxes_for_tests.h"
#include "dovetail/core/reshard/meshes_for_tests.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

using Indices = std::vector<int64_t>;

// As torch.chunk: ceil(size / count) indices each, and the last ones fewer or none.
Indices ChunkOf(const Indices& indices, int64_t count, int64_t number) {
  const int64_t size = std::ssize(indices), chunk = (size + count - 1) / count;
  const int64_t first = std::min(size, number * chunk), last = std::min(size, first + chunk);
  return {indices.begin() + first, indices.begin() + last};
}

// As PyTorch's _StridedShard, and Shard for a split factor of 1.
Indices ShardOf(const Indices& indices, const Placement& placement, int64_t count, int64_t number) {
  Indices result;
  for (int64_t i = 0; i < placement.split_factor; ++i) {
    const Indices chunk = ChunkOf(ChunkOf(indices, placement.split_factor, i), count, number);
    result.insert(result.end(), chunk.begin(), chunk.end());
  }
  return result;
}

// The indices that a rank has in each dimension, in its order.
std::vector<Indices> IndicesOf(const std::vector<int64_t>& shape, const Mesh& mesh,
                               const std::vector<Placement>& placements, int64_t place) {
  std::vector<Indices> indices(shape.size());
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    indices[dim].resize(static_cast<size_t>(shape[dim]));
    std::iota(indices[dim].begin(), indices[dim].end(), 0);
  }
  int64_t ranks = std::ssize(mesh.ranks);
  for (size_t i = 0; i < placements.size(); ++i) {
    ranks /= mesh.shape[i];
    const int64_t number = place / ranks % mesh.shape[i];
    if (placements[i].dim < 0) continue;
    Indices& of_dim = indices[static_cast<size_t>(placements[i].dim)];
    of_dim = ShardOf(of_dim, placements[i], mesh.shape[i], number);
  }
  return indices;
}

// What the rank's only tensor has at each place, in row-major order: numbers of elements.
void ExpectElements(const Sharding& sharding, int rank, const std::vector<Indices>& indices) {
  ASSERT_EQ(sharding.locals(rank).size(), 1u);
  const Dims& local = sharding.locals(rank)[0];
  std::vector<int64_t> expected = {0};
  for (size_t dim = 0; dim < indices.size(); ++dim) {
    ASSERT_EQ(local[dim], std::ssize(indices[dim]));
    std::vector<int64_t> longer;
    for (const int64_t element : expected) {
      for (const int64_t i : indices[dim]) longer.push_back(element * sharding.shape()[dim] + i);
    }
    expected = std::move(longer);
  }
  std::vector<int64_t> actual(expected.size(), -1);
  for (const Part& part : sharding.parts(rank)) {
    ASSERT_EQ(part.rank, rank);
    ASSERT_EQ(part.local, 0);
    Box place;
    for (size_t dim = 0; dim < local.size(); ++dim) {
      place.push_back({part.start[dim], part.start[dim] + part.box[dim].size()});
    }
    const std::vector<int64_t> places = ElementsOf(place, local);
    const std::vector<int64_t> elements = ElementsOf(part.box, sharding.shape());
    for (size_t i = 0; i < places.size(); ++i) {
      ASSERT_EQ(std::exchange(actual.at(static_cast<size_t>(places[i])), elements[i]), -1);
    }
  }
  ASSERT_EQ(actual, expected);
}

std::string ErrorOf(const absl::StatusOr<Sharding>& sharding) {
  EXPECT_EQ(sharding.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(sharding.status().message());
}

TEST(OnMeshTest, RandomMeshesAreChunkedAsByTorch) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<int64_t> shape = RandomShape(random, 3, 13);
    for (int64_t& size : shape) size = RandomNumber(random, 0, 9) == 0 ? 0 : size;
    const auto [mesh, placements] = RandomMesh(random, std::ssize(shape), 5);
    const absl::StatusOr<Sharding> sharding = Sharding::OnMesh(shape, mesh, placements);
    ASSERT_TRUE(sharding.ok()) << sharding.status();
    ASSERT_EQ(sharding->size(), *std::max_element(mesh.ranks.begin(), mesh.ranks.end()) + 1);
    size_t parts = 0;
    for (int64_t place = 0; place < std::ssize(mesh.ranks); ++place) {
      const auto rank = static_cast<int>(mesh.ranks[static_cast<size_t>(place)]);
      ExpectElements(*sharding, rank, IndicesOf(shape, mesh, placements, place));
      if (testing::Test::HasFatalFailure()) return;
      parts += sharding->parts(rank).size();
    }
    ASSERT_EQ(parts, sharding->parts().size());
  }
}

TEST(OnMeshTest, RanksThatAreNotInTheMeshHaveNothing) {
  const Mesh mesh = {.shape = {2}, .ranks = {5, 2}};
  const absl::StatusOr<Sharding> sharding = Sharding::OnMesh({4}, mesh, {Shard(0)});
  ASSERT_TRUE(sharding.ok());
  EXPECT_EQ(sharding->size(), 6);
  for (const int rank : {-1, 0, 1, 3, 4, 6, 1 << 30}) {
    EXPECT_TRUE(sharding->parts(rank).empty());
    EXPECT_TRUE(sharding->locals(rank).empty());
  }
  EXPECT_EQ(sharding->parts(5)[0].box, (Box{{0, 2}}));
  EXPECT_EQ(sharding->parts(2)[0].box, (Box{{2, 4}}));
}

TEST(OnMeshTest, NeighbouringChunksOfOneRankAreOnePart) {
  // Each chunk of the split has one rank.
  const absl::StatusOr<Sharding> sharding = Sharding::OnMesh({8}, MeshOf({1}), {Shard(0, 4)});
  ASSERT_TRUE(sharding.ok());
  ASSERT_EQ(sharding->parts().size(), 1u);
  EXPECT_EQ(sharding->parts()[0].box, (Box{{0, 8}}));
}

TEST(OnMeshTest, AnEmptyChunkIsATensorWithoutElements) {
  const absl::StatusOr<Sharding> sharding = Sharding::OnMesh({2, 3}, MeshOf({4}), {Shard(0)});
  ASSERT_TRUE(sharding.ok());
  EXPECT_TRUE(sharding->parts(3).empty());
  ASSERT_EQ(sharding->locals(3).size(), 1u);
  EXPECT_EQ(sharding->locals(3)[0], (Dims{0, 3}));
}

TEST(OnMeshTest, AMeshWithoutDimensionsIsOneRankWithAllElements) {
  const absl::StatusOr<Sharding> sharding = Sharding::OnMesh({4}, MeshOf({}), {});
  ASSERT_TRUE(sharding.ok());
  EXPECT_EQ(sharding->size(), 1);
  EXPECT_EQ(sharding->parts(0)[0].box, WholeBox({4}));
}

TEST(OnMeshTest, ATensorOfRank0HasItsElementOnEachRank) {
  const absl::StatusOr<Sharding> sharding = Sharding::OnMesh({}, MeshOf({3}), {Replicate()});
  ASSERT_TRUE(sharding.ok());
  ASSERT_EQ(sharding->parts().size(), 3u);
  EXPECT_EQ(sharding->locals(2)[0], Dims());
}

TEST(OnMeshTest, ChunksOfTheLargestSizesAreExact) {
  for (const int64_t size : {INT64_MAX, int64_t{1} << 62, (int64_t{1} << 62) - 1}) {
    for (const int64_t count : {1, 2, 3, 1000}) {
      for (const int64_t split : {1, 7}) {
        const absl::StatusOr<Sharding> sharding =
            Sharding::OnMesh({size}, MeshOf({count}), {Shard(0, split)});
        ASSERT_TRUE(sharding.ok()) << sharding.status();
        std::vector<Range> ranges;
        for (const Part& part : sharding->parts()) ranges.push_back(part.box[0]);
        std::sort(ranges.begin(), ranges.end());
        int64_t at = 0;
        for (const Range& range : ranges) ASSERT_EQ(std::exchange(at, range.stop), range.start);
        EXPECT_EQ(at, size);
      }
    }
  }
}

TEST(OnMeshTest, AllRanksThatArePossibleCanBeInAMesh) {
  const absl::StatusOr<Sharding> sharding =
      Sharding::OnMesh({int64_t{1} << 62}, MeshOf({Sharding::kMaxRanks}), {Shard(0)});
  ASSERT_TRUE(sharding.ok());
  EXPECT_EQ(sharding->size(), Sharding::kMaxRanks);
  EXPECT_EQ(sharding->parts(7)[0].box, (Box{{int64_t{7} << 42, int64_t{8} << 42}}));
}

TEST(OnMeshTest, RefusesSplitFactorsThatMakeTooManyChunks) {
  const auto on = [](Dims mesh, const std::vector<Placement>& placements) {
    return Sharding::OnMesh({int64_t{1} << 31, int64_t{1} << 31}, MeshOf(std::move(mesh)),
                            placements);
  };
  EXPECT_TRUE(on({1024}, {Shard(0, 64)}).ok());
  EXPECT_EQ(ErrorOf(on({1024}, {Shard(0, 1025)})),
            "The split factors make more than 1048576 chunks on a mesh of 1024 ranks.");
  // Each alone is possible. Together they make 2^41 boxes, of one dimension or of two.
  const std::string error = "The split factors make more than 1048576 chunks on a mesh of 4 ranks.";
  for (const int dim : {0, 1}) {
    EXPECT_EQ(ErrorOf(on({2, 2}, {Shard(0, 1 << 20), Shard(dim, 1 << 20)})), error);
    EXPECT_EQ(ErrorOf(on({2, 2, 1, 1}, {Shard(0, 1 << 20), Shard(dim, 1 << 20), Shard(0, 1 << 20),
                                        Shard(dim, 1 << 20)})),
              error);
  }
}

TEST(OnMeshTest, RefusesShapesThatNoTensorHas) {
  const auto on_one = [](const std::vector<int64_t>& shape) {
    return ErrorOf(Sharding::OnMesh(shape, MeshOf({1}), {Replicate()}));
  };
  EXPECT_EQ(on_one({4, -1}), "The shape (4, -1) has a negative size.");
  EXPECT_EQ(on_one({int64_t{1} << 62, 2}),
            "The shape (4611686018427387904, 2) has more elements "
            "than a 64-bit integer counts.");
  EXPECT_EQ(on_one(std::vector<int64_t>(65, 1)), "A tensor has 0 to 64 dimensions, not 65.");
}

TEST(OnMeshTest, RefusesMeshesWithoutARankForEachPlace) {
  const auto on = [](Mesh mesh) {
    const std::vector<Placement> placements(mesh.shape.size());
    return ErrorOf(Sharding::OnMesh({4}, mesh, placements));
  };
  EXPECT_EQ(on({.shape = {2, 3}, .ranks = {0, 1, 2}}),
            "A mesh of shape (2, 3) has 6 ranks, and 3 are given.");
  EXPECT_EQ(on({.shape = {2}, .ranks = {0, 1, 2}}),
            "A mesh of shape (2,) has 2 ranks, and 3 are given.");
  EXPECT_EQ(on({.shape = {0}, .ranks = {}}), "A mesh of shape (0,) has no ranks.");
  EXPECT_EQ(on({.shape = {2}, .ranks = {3, 3}}), "Rank 3 is in the mesh twice.");
  EXPECT_EQ(on({.shape = {2}, .ranks = {3, -1}}), "A rank is a number from 0 to 1048575, not -1.");
  EXPECT_EQ(on({.shape = {1}, .ranks = {Sharding::kMaxRanks}}),
            "A rank is a number from 0 to 1048575, not 1048576.");
  EXPECT_EQ(on({.shape = {1}, .ranks = {INT64_MAX}}),
            "A rank is a number from 0 to 1048575, not 9223372036854775807.");
}

TEST(OnMeshTest, RefusesPlacementsThatDoNotFit) {
  const auto with = [](const std::vector<Placement>& placements) {
    return ErrorOf(Sharding::OnMesh({4, 6}, MeshOf({2, 2}), placements));
  };
  EXPECT_EQ(with({Shard(0)}),
            "A mesh of shape (2, 2) needs 2 placements, one for each dimension, not 1.");
  EXPECT_EQ(with({Replicate(), Shard(2)}),
            "Dimension 2 can't be sharded: the tensor has 2 dimensions.");
  EXPECT_EQ(with({Shard(0, 0), Replicate()}),
            "A split factor is a number of chunks from 1 to 1048576, not 0.");
  EXPECT_EQ(with({Shard(0, INT64_MAX), Replicate()}),
            "A split factor is a number of chunks from 1 to 1048576, not 9223372036854775807.");
}

TEST(OfBoxesTest, EachBoxIsATensorOfItsRank) {
  const absl::StatusOr<Sharding> sharding = Sharding::OfBoxes(
      {4, 6}, {{{{0, 2}, {0, 6}}, {{3, 3}, {0, 6}}, {{2, 4}, {1, 3}}}, {}, {{{0, 4}, {0, 6}}}});
  ASSERT_TRUE(sharding.ok()) << sharding.status();
  EXPECT_EQ(sharding->size(), 3);
  ASSERT_EQ(sharding->locals(0).size(), 3u);
  EXPECT_EQ(sharding->locals(0)[1], (Dims{0, 6}));
  EXPECT_EQ(sharding->locals(0)[2], (Dims{2, 2}));
  ASSERT_EQ(sharding->parts(0).size(), 2u);  // the empty box has none
  EXPECT_EQ(sharding->parts(0)[1].local, 2);
  EXPECT_EQ(sharding->parts(0)[1].box, (Box{{2, 4}, {1, 3}}));
  EXPECT_EQ(sharding->parts(0)[1].start, (Dims{0, 0}));
  EXPECT_TRUE(sharding->locals(1).empty());
}

TEST(OfBoxesTest, RefusesBoxesThatDoNotLieInTheTensor) {
  const auto of = [](const Box& box) { return ErrorOf(Sharding::OfBoxes({4, 6}, {{}, {box}})); };
  const std::string end = " of rank 1 does not lie in a tensor of shape (4, 6).";
  EXPECT_EQ(of({{0, 4}, {0, 7}}), "The box [0:4, 0:7]" + end);
  EXPECT_EQ(of({{-1, 4}, {0, 6}}), "The box [-1:4, 0:6]" + end);
  EXPECT_EQ(of({{3, 2}, {0, 6}}), "The box [3:2, 0:6]" + end);
  EXPECT_EQ(of({{0, 4}}), "The box [0:4]" + end);
  EXPECT_EQ(of({{0, 4}, {0, 6}, {0, 1}}), "The box [0:4, 0:6, 0:1]" + end);
  EXPECT_EQ(of({{INT64_MIN, INT64_MAX}, {0, 6}}),
            "The box [-9223372036854775808:9223372036854775807, 0:6]" + end);
}

TEST(OfBoxesTest, RefusesARankThatHasElementsTwice) {
  EXPECT_EQ(ErrorOf(Sharding::OfBoxes({4}, {{{{0, 4}}}, {{{0, 2}}, {{3, 3}}, {{1, 3}}}})),
            "Rank 1 has elements twice, in the boxes [0:2] and [1:3]; a rank has each at most "
            "once.");
  EXPECT_EQ(ErrorOf(Sharding::OfBoxes({}, {{{}, {}}})),
            "Rank 0 has elements twice, in the boxes [] and []; a rank has each at most once.");
}

TEST(OfBoxesTest, RefusesShapesThatNoTensorHas) {
  EXPECT_EQ(ErrorOf(Sharding::OfBoxes({-4}, {})), "The shape (-4,) has a negative size.");
}

TEST(OfBoxesTest, RefusesMoreRanksThanAreCounted) {
  const std::vector<std::vector<Box>> boxes(Sharding::kMaxRanks + 1);
  EXPECT_EQ(ErrorOf(Sharding::OfBoxes({4}, boxes)),
            "There are boxes for 1048577 ranks, and at most 1048576 are possible.");
}

}  // namespace
}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
