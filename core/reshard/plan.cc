#include "dovetail/core/reshard/plan.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

Dims PlaceOf(const Part& part, const Box& box) {
  Dims start = part.start;
  for (size_t i = 0; i < box.size(); ++i) start[i] += box[i].start - part.box[i].start;
  return start;
}

absl::Status Missing(std::string_view side, const Box& box, std::string_view remedy = "") {
  return absl::InvalidArgumentError(
      absl::StrCat("No rank of the ", side, " has the elements ", BoxToString(box), remedy, "."));
}

void AppendNumbers(std::string* out, absl::Span<const int64_t> numbers) {
  absl::StrAppend(out, numbers.size(), ":");
  for (const int64_t number : numbers) absl::StrAppend(out, number, ",");
}

}  // namespace

Plan::Plan(Sharding source, Sharding target, PlanOptions options)
    : source_(std::move(source)),
      target_(std::move(target)),
      options_(std::move(options)),
      source_overlaps_(source_.boxes.FindOverlap().has_value()) {}

absl::StatusOr<Plan> Plan::Make(Sharding source, Sharding target, PlanOptions options) {
  if (source.shape() != target.shape()) {
    return absl::InvalidArgumentError(
        absl::StrCat("The source has shape ", ShapeToString(source.shape()), " and the target ",
                     ShapeToString(target.shape()), "."));
  }
  const int size = std::max(source.size(), target.size());
  if (!options.hosts.empty() && static_cast<int>(options.hosts.size()) < size) {
    return absl::InvalidArgumentError(absl::StrCat("There are ", options.hosts.size(),
                                                   " hosts for ", size, " ranks; each has one."));
  }
  const bool partial = options.partial;
  Plan plan(std::move(source), std::move(target), std::move(options));
  if (!partial) {
    const Box whole = WholeBox(plan.source().shape());
    if (const auto missing = plan.source_.boxes.FindMissing(whole)) {
      return Missing("source", *missing);
    }
    if (const auto missing = plan.target_.boxes.FindMissing(whole)) {
      return Missing("target", *missing, ", and only a partial plan may leave some out");
    }
    return plan;
  }
  for (size_t i = 0; i < plan.target_.boxes.size(); ++i) {
    if (const auto missing = plan.source_.boxes.FindMissing(plan.target_.boxes[i])) {
      return Missing("source", *missing);
    }
  }
  return plan;
}

int64_t Plan::host(int rank) const {
  const auto i = static_cast<size_t>(rank);
  return i < options_.hosts.size() ? options_.hosts[i] : 0;
}

std::optional<size_t> Plan::OwnPart(size_t source_box, int rank) const {
  const std::vector<size_t>& holders = source_.parts[source_box];
  const auto rank_of = [&](size_t part) { return source().parts()[part].rank; };
  const auto own = std::partition_point(holders.begin(), holders.end(),
                                        [&](size_t part) { return rank_of(part) < rank; });
  if (own == holders.end() || rank_of(*own) != rank) return std::nullopt;
  return *own;
}

Plan::Distance Plan::DistanceOf(size_t source_box, int rank) const {
  if (OwnPart(source_box, rank)) return Distance::kSameRank;
  const std::vector<size_t>& holders = source_.parts[source_box];
  const bool is_near = std::any_of(holders.begin(), holders.end(), [&](size_t part) {
    return host(source().parts()[part].rank) == host(rank);
  });
  return is_near ? Distance::kSameHost : Distance::kOtherHost;
}

size_t Plan::HolderOf(size_t source_box, int rank, Turn turn) const {
  const std::vector<size_t>& holders = source_.parts[source_box];
  const auto is_near = [&](size_t part) { return host(source().parts()[part].rank) == host(rank); };
  const auto near = static_cast<size_t>(std::count_if(holders.begin(), holders.end(), is_near));
  if (near == 0) return holders[turn.of_all % holders.size()];
  size_t left = turn.on_host % near;
  return *std::find_if(holders.begin(), holders.end(),
                       [&](size_t part) { return is_near(part) && left-- == 0; });
}

Plan::Turn Plan::TurnOf(size_t source_box, size_t target_part) const {
  const absl::Span<const Part> parts = target().parts();
  const int64_t own_host = host(parts[target_part].rank);
  Turn turn;
  target_.boxes.ForEachCommon(source_.boxes[source_box], [&](size_t box, const Box&) {
    for (const size_t part : target_.parts[box]) {
      if (part >= target_part) break;
      if (OwnPart(source_box, parts[part].rank)) continue;
      ++turn.of_all;
      if (host(parts[part].rank) == own_host) ++turn.on_host;
    }
    return true;
  });
  return turn;
}

size_t Plan::FindHolder(size_t source_box, size_t target_part) const {
  const int rank = target().parts()[target_part].rank;
  if (const std::optional<size_t> own = OwnPart(source_box, rank)) return *own;
  const std::vector<size_t>& holders = source_.parts[source_box];
  return holders.size() == 1 ? holders[0]
                             : HolderOf(source_box, rank, TurnOf(source_box, target_part));
}

void Plan::ForEachTaker(size_t source_box, size_t source_part,
                        absl::FunctionRef<void(size_t, const Box&)> f) const {
  std::vector<std::pair<size_t, Box>> takers;
  target_.boxes.ForEachCommon(source_.boxes[source_box], [&](size_t box, const Box& common) {
    for (const size_t part : target_.parts[box]) takers.emplace_back(part, common);
    return true;
  });
  std::sort(takers.begin(), takers.end());
  absl::flat_hash_map<int64_t, size_t> on_host;
  size_t of_all = 0;
  const bool is_single = source_.parts[source_box].size() == 1;
  for (const auto& [part, common] : takers) {
    const int rank = target().parts()[part].rank;
    std::optional<size_t> holder = OwnPart(source_box, rank);
    if (!holder) {
      size_t& before = on_host[host(rank)];
      holder = is_single ? source_part : HolderOf(source_box, rank, {before, of_all});
      ++before, ++of_all;
    }
    if (*holder == source_part) f(part, common);
  }
}

std::vector<Box> Plan::Taken(size_t source_box, size_t target_part, const Box& common) const {
  std::vector<Box> taken = {common};
  if (!source_overlaps_) return taken;
  const int rank = target().parts()[target_part].rank;
  const auto preference = [&](size_t box) { return std::pair(DistanceOf(box, rank), box); };
  const auto own = preference(source_box);
  std::vector<size_t> preferred;
  source_.boxes.ForEachCommon(common, [&](size_t box, const Box&) {
    if (preference(box) < own) preferred.push_back(box);
    return true;
  });
  std::sort(preferred.begin(), preferred.end());
  for (const size_t box : preferred) {
    std::vector<Box> left;
    for (const Box& piece : taken) AppendDifference(piece, source_.boxes[box], &left);
    taken = std::move(left);
  }
  return taken;
}

void Plan::ForEachPiece(size_t source_box, size_t target_part, size_t source_part,
                        const Box& common, absl::FunctionRef<void(const Piece&)> f) const {
  const Part& from = source().parts()[source_part];
  const Part& to = target().parts()[target_part];
  for (Box& box : Taken(source_box, target_part, common)) {
    Piece piece = {.source = from.rank,
                   .target = to.rank,
                   .source_local = from.local,
                   .target_local = to.local,
                   .box = {},
                   .source_start = PlaceOf(from, box),
                   .target_start = PlaceOf(to, box)};
    piece.box = std::move(box);
    f(piece);
  }
}

void Plan::ForEachReceive(int rank, absl::FunctionRef<void(const Piece&)> f) const {
  const absl::Span<const Part> own = target().parts(rank);
  for (const Part& part : own) {
    const auto target_part = static_cast<size_t>(&part - target().parts().data());
    std::vector<std::pair<size_t, Box>> found;
    source_.boxes.ForEachCommon(part.box, [&](size_t box, const Box& common) {
      found.emplace_back(box, common);
      return true;
    });
    std::sort(found.begin(), found.end());
    for (const auto& [box, common] : found) {
      ForEachPiece(box, target_part, FindHolder(box, target_part), common, f);
    }
  }
}

void Plan::ForEachSend(int rank, absl::FunctionRef<void(const Piece&)> f) const {
  struct Found {
    size_t target_part;
    size_t source_box;
    size_t source_part;
    Box common;
  };
  std::vector<Found> found;
  for (const Part& part : source().parts(rank)) {
    const auto source_part = static_cast<size_t>(&part - source().parts().data());
    const size_t source_box = source_.box_of_part[source_part];
    ForEachTaker(source_box, source_part, [&](size_t target_part, const Box& common) {
      found.push_back({target_part, source_box, source_part, common});
    });
  }
  // As in ForEachReceive: parts are in the order of their ranks.
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.target_part, a.source_box) < std::pair(b.target_part, b.source_box);
  });
  for (const Found& one : found) {
    ForEachPiece(one.source_box, one.target_part, one.source_part, one.common, f);
  }
}

std::vector<int64_t> Plan::SentElements(int source) const {
  std::vector<int64_t> count(static_cast<size_t>(size()));
  ForEachSend(source, [&](const Piece& piece) {
    count[static_cast<size_t>(piece.target)] += NumElements(piece.box);
  });
  return count;
}

std::vector<int64_t> Plan::ReceivedElements(int target) const {
  std::vector<int64_t> count(static_cast<size_t>(size()));
  ForEachReceive(target, [&](const Piece& piece) {
    count[static_cast<size_t>(piece.source)] += NumElements(piece.box);
  });
  return count;
}

int64_t Plan::MovedElements() const {
  int64_t count = 0;
  for (const Part& needed : target().parts()) {
    count += NumElements(needed.box);
    // (A rank has no element twice.)
    for (const Part& own : source().parts(needed.rank)) {
      if (const auto common = Intersection(needed.box, own.box)) count -= NumElements(*common);
    }
  }
  return count;
}

std::string Plan::Canonical() const {
  std::string text;
  AppendNumbers(&text, source().shape());
  for (const Sharding* sharding : {&source(), &target()}) {
    absl::StrAppend(&text, sharding->size(), ";");
    for (int rank = 0; rank < sharding->size(); ++rank) {
      for (const Dims& local : sharding->locals(rank)) AppendNumbers(&text, local);
      absl::StrAppend(&text, ";");
      for (const Part& part : sharding->parts(rank)) {
        absl::StrAppend(&text, part.local, BoxToString(part.box));
        AppendNumbers(&text, part.start);
      }
    }
  }
  for (int rank = 0; rank < size(); ++rank) absl::StrAppend(&text, host(rank), ",");
  return text;
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
