#include "dovetail/core/reshard/plan.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
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

using Shape = std::vector<int64_t>;
using RankBoxes = std::vector<std::vector<Box>>;
using Tensor = std::vector<int64_t>;  // a number for each element, in row-major order

Tensor EmptyTensor(const Dims& local) {
  return Tensor(ElementsOf(WholeBox(local), local).size(), -1);
}

// A place in a rank's own tensor.
std::vector<int64_t> PlacesOf(const Dims& start, const Box& box, const Dims& local) {
  Box place;
  for (size_t dim = 0; dim < box.size(); ++dim) {
    place.push_back({start[dim], start[dim] + box[dim].size()});
  }
  return ElementsOf(place, local);
}

// A rank's tensors. Each element is its number in the whole tensor.
std::vector<Tensor> TensorsOf(const Sharding& sharding, int rank) {
  std::vector<Tensor> tensors;
  for (const Dims& local : sharding.locals(rank)) tensors.push_back(EmptyTensor(local));
  for (const Part& part : sharding.parts(rank)) {
    const auto number = static_cast<size_t>(part.local);
    const std::vector<int64_t> elements = ElementsOf(part.box, sharding.shape());
    const auto places = PlacesOf(part.start, part.box, sharding.locals(rank)[number]);
    for (size_t i = 0; i < places.size(); ++i) {
      tensors[number].at(static_cast<size_t>(places[i])) = elements[i];
    }
  }
  return tensors;
}

using Key = std::tuple<int, int, int, int, Box, Dims, Dims>;

Key KeyOf(const Piece& piece) {
  return {piece.source, piece.target,       piece.source_local, piece.target_local,
          piece.box,    piece.source_start, piece.target_start};
}

int64_t HostOf(const std::vector<int64_t>& hosts, int rank) {
  const auto number = static_cast<size_t>(rank);
  return number < hosts.size() ? hosts[number] : 0;
}

// Carries out the plan element by element.
void ExpectExact(const Plan& plan, const std::vector<int64_t>& hosts) {
  const absl::Span<const int64_t> shape = plan.source().shape();
  std::map<int64_t, std::set<int>> holders;
  std::vector<std::vector<Tensor>> sources;
  for (int rank = 0; rank < plan.size(); ++rank) {
    sources.push_back(TensorsOf(plan.source(), rank));
    for (const Tensor& tensor : sources.back()) {
      for (const int64_t element : tensor) holders[element].insert(rank);
    }
  }
  std::map<std::pair<int, int>, std::vector<Key>> received, sent;
  int64_t moved = 0;
  for (int rank = 0; rank < plan.size(); ++rank) {
    const std::vector<Tensor> expected = TensorsOf(plan.target(), rank);
    std::vector<Tensor> targets;
    for (const Dims& local : plan.target().locals(rank)) targets.push_back(EmptyTensor(local));
    std::vector<int64_t> counts(static_cast<size_t>(plan.size()));
    plan.ForEachReceive(rank, [&](const Piece& piece) {
      ASSERT_EQ(piece.target, rank);
      received[{piece.source, rank}].push_back(KeyOf(piece));
      const auto from = static_cast<size_t>(piece.source_local);
      const auto to = static_cast<size_t>(piece.target_local);
      const auto source_places =
          PlacesOf(piece.source_start, piece.box, plan.source().locals(piece.source)[from]);
      const auto target_places =
          PlacesOf(piece.target_start, piece.box, plan.target().locals(rank)[to]);
      const std::vector<int64_t> elements = ElementsOf(piece.box, shape);
      ASSERT_FALSE(elements.empty());
      counts[static_cast<size_t>(piece.source)] += std::ssize(elements);
      const Tensor& source = sources[static_cast<size_t>(piece.source)][from];
      for (size_t i = 0; i < elements.size(); ++i) {
        ASSERT_EQ(source.at(static_cast<size_t>(source_places[i])), elements[i]);
        int64_t& arrived = targets[to].at(static_cast<size_t>(target_places[i]));
        ASSERT_EQ(std::exchange(arrived, elements[i]), -1);
        const std::set<int>& having = holders[elements[i]];
        ASSERT_TRUE(having.contains(piece.source));
        if (piece.source == rank) continue;
        ASSERT_FALSE(having.contains(rank));
        if (HostOf(hosts, piece.source) == HostOf(hosts, rank)) continue;
        for (const int holder : having) ASSERT_NE(HostOf(hosts, holder), HostOf(hosts, rank));
      }
    });
    ASSERT_EQ(targets, expected);
    ASSERT_EQ(plan.ReceivedElements(rank), counts);
    counts[static_cast<size_t>(rank)] = 0;
    moved += std::accumulate(counts.begin(), counts.end(), int64_t{0});
    std::fill(counts.begin(), counts.end(), 0);
    plan.ForEachSend(rank, [&](const Piece& piece) {
      ASSERT_EQ(piece.source, rank);
      sent[{rank, piece.target}].push_back(KeyOf(piece));
      counts[static_cast<size_t>(piece.target)] += NumElements(piece.box);
    });
    ASSERT_EQ(plan.SentElements(rank), counts);
  }
  ASSERT_EQ(sent, received);
  ASSERT_EQ(plan.MovedElements(), moved);
}

// Boxes of random ranks that have all elements; some ranks have some of them, too.
RankBoxes RandomBoxes(std::mt19937& random, const Shape& shape) {
  RankBoxes boxes(static_cast<size_t>(RandomNumber(random, 1, 6)));
  const auto any_rank = [&]() -> std::vector<Box>& {
    return boxes[static_cast<size_t>(RandomNumber(random, 0, std::ssize(boxes) - 1))];
  };
  std::vector<Box> left = {WholeBox(shape)};
  while (!left.empty()) {
    const Box next = left.back();
    left.pop_back();
    Box box;
    for (const Range& range : next) {
      const int64_t start = RandomNumber(random, range.start, range.stop - 1);
      box.push_back({start, RandomNumber(random, start + 1, range.stop)});
    }
    AppendDifference(next, box, &left);
    any_rank().push_back(box);
  }
  for (int64_t more = RandomNumber(random, 0, 12); more > 0; --more) {
    const Box box = RandomBox(random, shape);
    std::vector<Box>& of_rank = any_rank();
    const bool is_new = std::none_of(of_rank.begin(), of_rank.end(), [&](const Box& other) {
      return Intersection(box, other).has_value();
    });
    if (is_new) of_rank.push_back(box);
  }
  for (std::vector<Box>& of_rank : boxes) std::shuffle(of_rank.begin(), of_rank.end(), random);
  return boxes;
}

Sharding RandomSharding(std::mt19937& random, const Shape& shape) {
  const bool has_elements = std::find(shape.begin(), shape.end(), 0) == shape.end();
  if (has_elements && RandomNumber(random, 0, 2) > 0) {
    return *Sharding::OfBoxes(shape, RandomBoxes(random, shape));
  }
  const auto [mesh, placements] = RandomMesh(random, std::ssize(shape), 4);
  return *Sharding::OnMesh(shape, mesh, placements);
}

std::vector<int64_t> RandomHosts(std::mt19937& random) {
  if (RandomNumber(random, 0, 3) == 0) return {};
  std::vector<int64_t> hosts(256);  // of more ranks than there are
  for (int64_t& host : hosts) host = RandomNumber(random, 0, 3);
  return hosts;
}

Sharding OfBoxes(const Shape& shape, const RankBoxes& boxes) {
  return *Sharding::OfBoxes(shape, boxes);
}

std::string ErrorOf(const absl::StatusOr<Plan>& plan) {
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

TEST(PlanTest, EveryElementComesOnceFromTheNearestRankThatHasIt) {
  std::mt19937 random(1);
  for (int i = 0; i < 600; ++i) {
    Shape shape = RandomShape(random, 3, 8);
    if (!shape.empty() && RandomNumber(random, 0, 19) == 0) shape.back() = 0;
    const std::vector<int64_t> hosts = RandomHosts(random);
    const absl::StatusOr<Plan> plan =
        Plan::Make(RandomSharding(random, shape), RandomSharding(random, shape), {.hosts = hosts});
    ASSERT_TRUE(plan.ok()) << plan.status();
    ExpectExact(*plan, hosts);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(PlanTest, APartialTargetComesFromAPartialSource) {
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    const Shape shape = RandomShape(random, 3, 8);
    RankBoxes source = RandomBoxes(random, shape), target = RandomBoxes(random, shape);
    for (RankBoxes* boxes : {&source, &target}) {
      for (std::vector<Box>& of_rank : *boxes) {
        const int64_t unlikely = boxes == &source ? 9 : 2;
        std::erase_if(of_rank, [&](const Box&) { return RandomNumber(random, 0, unlikely) == 0; });
      }
    }
    std::set<int64_t> left;
    for (const auto& of_rank : target) {
      for (const Box& box : of_rank) {
        for (const int64_t element : ElementsOf(box, shape)) left.insert(element);
      }
    }
    for (const auto& of_rank : source) {
      for (const Box& box : of_rank) {
        for (const int64_t element : ElementsOf(box, shape)) left.erase(element);
      }
    }
    const std::vector<int64_t> hosts = RandomHosts(random);
    const absl::StatusOr<Plan> plan = Plan::Make(OfBoxes(shape, source), OfBoxes(shape, target),
                                                 {.hosts = hosts, .partial = true});
    ASSERT_EQ(plan.ok(), left.empty()) << plan.status();
    if (!plan.ok()) {
      ++refused;
      continue;
    }
    ExpectExact(*plan, hosts);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 350);
}

TEST(PlanTest, RanksBeyondThePlanHaveNoPieces) {
  const absl::StatusOr<Plan> plan =
      Plan::Make(OnMesh({4}, MeshOf({2}), {Shard(0)}), OnMesh({4}, MeshOf({2}), {Replicate()}));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 2);
  for (const int rank : {-1, 2, INT32_MAX}) {
    plan->ForEachReceive(rank, [](const Piece&) { ADD_FAILURE(); });
    plan->ForEachSend(rank, [](const Piece&) { ADD_FAILURE(); });
    EXPECT_EQ(plan->SentElements(rank), (std::vector<int64_t>{0, 0}));
  }
}

TEST(PlanTest, TheLargestSizesAreCountedExactly) {
  const int64_t size = INT64_MAX;
  const absl::StatusOr<Plan> plan =
      Plan::Make(OnMesh({size}, MeshOf({3}), {Shard(0)}), OnMesh({size}, MeshOf({2}), {Shard(0)}));
  ASSERT_TRUE(plan.ok());
  const int64_t third = size / 3 + 1, half = size / 2 + 1;
  EXPECT_EQ(plan->ReceivedElements(0), (std::vector<int64_t>{third, half - third, 0}));
  EXPECT_EQ(plan->ReceivedElements(1),
            (std::vector<int64_t>{0, 2 * third - half, size - 2 * third}));
}

TEST(PlanTest, ElementsThatNoRankHasAreNamed) {
  const Sharding whole = OfBoxes({4, 6}, {{{{0, 4}, {0, 6}}}});
  const Sharding gap = OfBoxes({4, 6}, {{{{0, 2}, {0, 6}}}, {{{2, 4}, {0, 5}}}});
  const Sharding other = OfBoxes({6, 4}, {{{{0, 6}, {0, 4}}}});
  EXPECT_EQ(ErrorOf(Plan::Make(gap, whole)), "No rank of the source has the elements [2:4, 5:6].");
  EXPECT_EQ(
      ErrorOf(Plan::Make(whole, gap)),
      "No rank of the target has the elements [2:4, 5:6], and only a partial plan may leave some "
      "out.");
  EXPECT_EQ(ErrorOf(Plan::Make(gap, whole, {.hosts = {}, .partial = true})),
            "No rank of the source has the elements [2:4, 5:6].");
  EXPECT_TRUE(Plan::Make(whole, gap, {.hosts = {}, .partial = true}).ok());
  EXPECT_TRUE(Plan::Make(gap, gap, {.hosts = {}, .partial = true}).ok());
  EXPECT_EQ(ErrorOf(Plan::Make(whole, other)),
            "The source has shape (4, 6) and the target (6, 4).");
}

TEST(PlanTest, EachRankNeedsAHost) {
  const Sharding rows = OnMesh({4, 6}, MeshOf({3}), {Shard(0)});
  EXPECT_EQ(ErrorOf(Plan::Make(rows, rows, {.hosts = {0, 1}})),
            "There are 2 hosts for 3 ranks; each has one.");
  EXPECT_TRUE(Plan::Make(rows, rows, {.hosts = {0, 1, 0, 2}}).ok());
}

TEST(PlanTest, ATensorWithoutElementsNeedsNoRanks) {
  const absl::StatusOr<Plan> plan = Plan::Make(OfBoxes({0, 3}, {}), OfBoxes({0, 3}, {}));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->size(), 0);
}

// The sharding's boxes, which are the same as those of a mesh without split factors.
Sharding AsBoxes(const Sharding& sharding) {
  RankBoxes boxes(static_cast<size_t>(sharding.size()));
  for (const Part& part : sharding.parts()) {
    boxes[static_cast<size_t>(part.rank)].push_back(part.box);
  }
  return OfBoxes(Shape(sharding.shape().begin(), sharding.shape().end()), boxes);
}

TEST(CanonicalTest, EqualShardingsAreEqualHoweverTheyAreGiven) {
  const Sharding rows = OnMesh({4, 6}, MeshOf({2, 2}), {Shard(0), Replicate()});
  const Sharding blocks = OnMesh({4, 6}, MeshOf({2, 2}), {Shard(0), Shard(1)});
  const std::string text = Plan::Make(rows, blocks)->Canonical();
  EXPECT_EQ(Plan::Make(AsBoxes(rows), AsBoxes(blocks))->Canonical(), text);
  EXPECT_EQ(Plan::Make(rows, AsBoxes(blocks), {.hosts = {0, 0, 0, 0}})->Canonical(), text);
  const Mesh turned = {.shape = {2, 2}, .ranks = {0, 2, 1, 3}};
  const Sharding same = OnMesh({4, 6}, turned, {Shard(1), Shard(0)});
  EXPECT_EQ(Plan::Make(rows, same)->Canonical(), text);
}

TEST(CanonicalTest, DifferentPlansAreDifferent) {
  const auto mesh = [](std::vector<int64_t> ranks) {
    return Mesh{.shape = {std::ssize(ranks)}, .ranks = std::move(ranks)};
  };
  const Shape shape = {12};
  const std::vector<Sharding> shardings = {
      OnMesh(shape, mesh({0, 1}), {Shard(0)}),
      OnMesh(shape, mesh({1, 0}), {Shard(0)}),
      OnMesh(shape, mesh({0, 2}), {Shard(0)}),
      OnMesh(shape, mesh({0, 1}), {Shard(0, 2)}),
      OnMesh(shape, mesh({0, 1}), {Shard(0, 3)}),
      OnMesh(shape, mesh({0, 1}), {Replicate()}),
      OnMesh(shape, mesh({0}), {Replicate()}),
      OnMesh(shape, mesh({1}), {Replicate()}),
      OfBoxes(shape, {{{{0, 6}}, {{6, 12}}}}),
      OfBoxes(shape, {{{{6, 12}}, {{0, 6}}}}),
      OfBoxes(shape, {{{{0, 6}}, {{6, 12}}, {{0, 0}}}}),
      OfBoxes(shape, {{{{0, 6}}}, {{{6, 9}}, {{9, 12}}}}),
  };
  std::set<std::string> texts;
  for (const Sharding& source : shardings) {
    for (const Sharding& target : shardings) texts.insert(Plan::Make(source, target)->Canonical());
  }
  EXPECT_EQ(texts.size(), shardings.size() * shardings.size());
  EXPECT_NE(Plan::Make(shardings[0], shardings[1], {.hosts = {0, 1, 0, 1}})->Canonical(),
            Plan::Make(shardings[0], shardings[1])->Canonical());
  EXPECT_NE(
      Plan::Make(OnMesh({4, 6}, MeshOf({1}), {Replicate()}),
                 OnMesh({4, 6}, MeshOf({1}), {Replicate()}))
          ->Canonical(),
      Plan::Make(OnMesh({46}, MeshOf({1}), {Replicate()}), OnMesh({46}, MeshOf({1}), {Replicate()}))
          ->Canonical());
}

}  // namespace
}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
