// Ranks that have the same box take turns.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/core/reshard/meshes_for_tests.h"
#include "dovetail/core/reshard/plan.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

using Shape = std::vector<int64_t>;

// Elements that each rank sends to others.
std::vector<int64_t> SentByRank(const Plan& plan) {
  std::vector<int64_t> sent;
  for (int rank = 0; rank < plan.size(); ++rank) {
    std::vector<int64_t> counts = plan.SentElements(rank);
    counts[static_cast<size_t>(rank)] = 0;
    sent.push_back(std::accumulate(counts.begin(), counts.end(), int64_t{0}));
  }
  return sent;
}

TEST(BalanceTest, RanksThatHaveTheSameElementsTakeTurns) {
  const Shape shape = {64, 64};
  const Sharding replicas = OnMesh(shape, MeshOf({2, 4}), {Replicate(), Shard(0)});
  const std::vector<Sharding> targets = {
      OnMesh(shape, MeshOf({8}, 8), {Shard(0)}),
      OnMesh(shape, MeshOf({8}, 8), {Shard(1)}),
      OnMesh(shape, MeshOf({4, 4}, 8), {Shard(0), Shard(1)}),
      OnMesh(shape, MeshOf({8}, 8), {Replicate()}),
      OnMesh(shape, MeshOf({4, 2}, 8), {Replicate(), Shard(1)}),
  };
  for (const Sharding& target : targets) {
    std::vector<int64_t> sent = SentByRank(*Plan::Make(replicas, target));
    sent.resize(8);
    EXPECT_EQ(std::set<int64_t>(sent.begin(), sent.end()).size(), 1u)
        << testing::PrintToString(sent);
  }
}

TEST(BalanceTest, NoRankThatHasABoxIsAskedMoreOftenThanAnother) {
  const Shape shape = {240, 240};
  const Placement all = Replicate();
  const Mesh evens = {.shape = {4}, .ranks = {0, 2, 4, 6}};
  const std::vector<std::pair<Sharding, Sharding>> cases = {
      {OnMesh(shape, MeshOf({2, 4}), {all, Shard(0)}),
       OnMesh(shape, MeshOf({4, 4}, 8), {Shard(1), Shard(0)})},
      {OnMesh(shape, MeshOf({16, 8}), {all, Shard(0)}),
       OnMesh(shape, MeshOf({8, 16}, 128), {Shard(1), Shard(0)})},
      {OnMesh(shape, MeshOf({4, 2}), {all, Shard(0)}), OnMesh(shape, MeshOf({8}), {all})},
      {OnMesh(shape, evens, {all}), OnMesh(shape, MeshOf({8}), {all})},
      {OnMesh(shape, MeshOf({4, 2}), {all, Shard(0)}), OnMesh(shape, MeshOf({8}), {Shard(1)})},
      {OnMesh(shape, MeshOf({3, 4}), {all, Shard(0)}),
       OnMesh(shape, MeshOf({3, 4}, 12), {Shard(1), Shard(0)})},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& [source, target] = cases[i];
    const Plan plan = *Plan::Make(source, target);
    std::vector<int64_t> sent = SentByRank(plan);
    int64_t total = 0, most = 0, senders = 0;
    for (int rank = 0; rank < plan.size(); ++rank) {
      total += sent[static_cast<size_t>(rank)];
      most = std::max(most, sent[static_cast<size_t>(rank)]);
      senders += source.parts(rank).empty() ? 0 : 1;
    }
    EXPECT_EQ(most * senders, total) << "case " << i << ": " << testing::PrintToString(sent);
  }
}

TEST(BalanceTest, ReplicasFeedTheChunksOfNewRanksInTurn) {
  const Sharding replicas = OnMesh({64}, MeshOf({4}), {Replicate()});
  const Sharding chunks = OnMesh({64}, MeshOf({8}), {Shard(0)});
  EXPECT_EQ(SentByRank(*Plan::Make(replicas, chunks)),
            (std::vector<int64_t>{8, 8, 8, 8, 0, 0, 0, 0}));
}

TEST(BalanceTest, TurnsAreTakenWithinEachHost) {
  // Two hosts, each with two ranks that have all and four that need a chunk.
  const Mesh having = {.shape = {4}, .ranks = {0, 1, 6, 7}};
  const Mesh needing = {.shape = {8}, .ranks = {2, 3, 4, 5, 8, 9, 10, 11}};
  const absl::StatusOr<Plan> plan =
      Plan::Make(OnMesh({64}, having, {Replicate()}), OnMesh({64}, needing, {Shard(0)}),
                 {.hosts = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(SentByRank(*plan), (std::vector<int64_t>{16, 16, 0, 0, 0, 0, 16, 16, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
