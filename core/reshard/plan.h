// Plan: which elements go from which rank to which, so that a tensor of one sharding becomes one of
// another, and every element that a rank lacks is sent to it once.
//
//   absl::StatusOr<Plan> plan = Plan::Make(source, target);
//   plan->ForEachReceive(rank, [&](const Piece& piece) { Handle(piece); });     // what the rank
//   needs plan->ForEachSend(rank, [&](const Piece& piece) { Handle(piece); });        // what
//   others need of it
//
// Elements that the rank itself has are a piece from the rank to itself. Others come from a rank of
// the same host if one has them. Ranks that have the same box and are as near take turns. Every
// process that makes the plan of the same shardings finds the same pieces, in the same order.
//
// Immutable; all functions can be called by several threads.

#ifndef DOVETAIL_CORE_RESHARD_PLAN_H_
#define DOVETAIL_CORE_RESHARD_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/reshard/box.h"
#include "dovetail/core/reshard/sharding.h"
#include "dovetail/core/reshard/sharding_index.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {

// Elements that go from a rank's tensor to another's, or to another tensor of the same rank.
struct Piece {
  int source;        // the rank that has them
  int target;        // the rank that needs them
  int source_local;  // the number of its own tensor
  int target_local;
  Box box;            // in the whole tensor
  Dims source_start;  // where the box begins in the rank's own tensor
  Dims target_start;
};

struct PlanOptions {
  // The host of each rank, as any number. Empty: all ranks are on one host.
  std::vector<int64_t> hosts;
  // The shardings may lack elements. What the target has, the source must have in any case.
  bool partial = false;
};

class Plan {
 public:
  // InvalidArgument for shardings of different shapes, and if elements are missing.
  static absl::StatusOr<Plan> Make(Sharding source, Sharding target, PlanOptions options = {});

  const Sharding& source() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return source_.sharding; }
  const Sharding& target() const ABSL_ATTRIBUTE_LIFETIME_BOUND { return target_.sharding; }
  int size() const { return std::max(source().size(), target().size()); }  // the number of ranks

  // The pieces from one rank to another come in the same order in both. Takes time by the pieces,
  // and memory for those of the rank.
  void ForEachReceive(int rank, absl::FunctionRef<void(const Piece&)> f) const;
  void ForEachSend(int rank, absl::FunctionRef<void(const Piece&)> f) const;

  // The numbers of elements that go from a rank to each rank, and that come to a rank from each.
  std::vector<int64_t> SentElements(int source) const;
  std::vector<int64_t> ReceivedElements(int target) const;

  // Elements that go from any rank to another: those that the targets lack, once each.
  int64_t MovedElements() const;

  // What the pieces depend on, for comparing plans of several processes.
  std::string Canonical() const;

 private:
  // How near the nearest rank that has a box is.
  enum class Distance : uint8_t { kSameRank, kSameHost, kOtherHost };

  Plan(Sharding source, Sharding target, PlanOptions options);

  int64_t host(int rank) const;
  // The rank's own part of the source that has the box.
  std::optional<size_t> OwnPart(size_t source_box, int rank) const;
  Distance DistanceOf(size_t source_box, int rank) const;
  // How many parts of the target, which ask other ranks for elements of a box, come before one.
  struct Turn {
    size_t on_host = 0;  // of those on the same host
    size_t of_all = 0;
  };
  Turn TurnOf(size_t source_box, size_t target_part) const;
  // The part of the source from which the part of the target takes elements of the box.
  size_t FindHolder(size_t source_box, size_t target_part) const;
  // The same for a rank that does not have the box.
  size_t HolderOf(size_t source_box, int rank, Turn turn) const;
  // Calls f for all parts of the target that take elements of the box from this part of the source,
  // in the order of the parts, with what the box and theirs have in common.
  void ForEachTaker(size_t source_box, size_t source_part,
                    absl::FunctionRef<void(size_t target_part, const Box& common)> f) const;
  // Boxes of `common` that the target's part takes from this source box, not from a preferred one.
  std::vector<Box> Taken(size_t source_box, size_t target_part, const Box& common) const;
  void ForEachPiece(size_t source_box, size_t target_part, size_t source_part, const Box& common,
                    absl::FunctionRef<void(const Piece&)> f) const;

  ShardingIndex source_;
  ShardingIndex target_;
  PlanOptions options_;
  bool source_overlaps_;  // whether different boxes have elements in common
};

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RESHARD_PLAN_H_
