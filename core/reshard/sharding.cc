#include "dovetail/core/reshard/sharding.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/reshard/box_index.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace reshard {
namespace {

// Ranges of a dimension of the whole tensor, in the order in which a rank has them.
using Ranges = absl::InlinedVector<Range, 2>;

int64_t TotalSize(const Ranges& ranges) {
  int64_t size = 0;
  for (const Range& range : ranges) size += range.size();
  return size;
}

// Chunk `number` of `count` of the indices 0 to size - 1.
Range Chunk(int64_t size, int64_t count, int64_t number) {
  const int64_t chunk = size / count + (size % count != 0 ? 1 : 0);
  const auto limit = [&](int64_t i) { return chunk == 0 || i > size / chunk ? size : i * chunk; };
  return {limit(number), limit(number + 1)};
}

// Appends what the local indices `part` are of `ranges`.
void AppendPart(const Ranges& ranges, Range part, Ranges* result) {
  int64_t start = 0;
  for (const Range& range : ranges) {
    const int64_t first = std::max(part.start, start);
    const int64_t last = std::min(part.stop, start + range.size());
    if (first < last) {
      const Range piece = {range.start + first - start, range.start + last - start};
      if (!result->empty() && result->back().stop == piece.start) {
        result->back().stop = piece.stop;
      } else {
        result->push_back(piece);
      }
    }
    start += range.size();
  }
}

// What the rank with the number `number` of `count` along a dimension of the mesh has.
Ranges Sharded(const Ranges& ranges, int64_t split_factor, int64_t count, int64_t number) {
  Ranges result;
  const int64_t size = TotalSize(ranges);
  for (int64_t i = 0; i < split_factor; ++i) {
    const Range outer = Chunk(size, split_factor, i);
    Range inner = Chunk(outer.size(), count, number);
    inner.start += outer.start, inner.stop += outer.start;
    AppendPart(ranges, inner, &result);
    if (outer.stop == size) break;  // all later chunks are empty
  }
  return result;
}

// The boxes that ranges in each dimension make, and where they begin in the rank's tensor.
void AppendBoxes(const std::vector<Ranges>& ranges, int rank, std::vector<Part>* parts) {
  std::vector<size_t> at(ranges.size());
  std::vector<Dims> starts(ranges.size());  // of each range in the rank's tensor
  for (size_t dim = 0; dim < ranges.size(); ++dim) {
    int64_t start = 0;
    for (const Range& range : ranges[dim]) {
      starts[dim].push_back(start);
      start += range.size();
    }
  }
  if (std::any_of(ranges.begin(), ranges.end(), [](const Ranges& r) { return r.empty(); })) return;
  while (true) {
    Part part = {.box = {}, .rank = rank, .local = 0, .start = {}};
    for (size_t dim = 0; dim < ranges.size(); ++dim) {
      part.box.push_back(ranges[dim][at[dim]]);
      part.start.push_back(starts[dim][at[dim]]);
    }
    parts->push_back(std::move(part));
    size_t dim = ranges.size();
    while (dim > 0 && ++at[dim - 1] == ranges[dim - 1].size()) at[--dim] = 0;
    if (dim == 0) return;
  }
}

absl::Status CheckShape(absl::Span<const int64_t> shape) {
  return Layout::Contiguous(shape).status();
}

absl::Status CheckMesh(const Mesh& mesh) {
  const absl::StatusOr<Layout> layout = Layout::Contiguous(mesh.shape);
  if (!layout.ok()) return layout.status();
  if (layout->num_elements() == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("A mesh of shape ", ShapeToString(mesh.shape), " has no ranks."));
  }
  if (layout->num_elements() != static_cast<int64_t>(mesh.ranks.size())) {
    return absl::InvalidArgumentError(absl::StrCat("A mesh of shape ", ShapeToString(mesh.shape),
                                                   " has ", layout->num_elements(), " ranks, and ",
                                                   mesh.ranks.size(), " are given."));
  }
  std::vector<int64_t> sorted = mesh.ranks;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(absl::StrCat("Rank ", *twice, " is in the mesh twice."));
  }
  if (sorted.front() < 0 || sorted.back() >= Sharding::kMaxRanks) {
    const int64_t wrong = sorted.front() < 0 ? sorted.front() : sorted.back();
    return absl::InvalidArgumentError(absl::StrCat("A rank is a number from 0 to ",
                                                   Sharding::kMaxRanks - 1, ", not ", wrong, "."));
  }
  return absl::OkStatus();
}

absl::Status CheckPlacements(absl::Span<const int64_t> shape, const Mesh& mesh,
                             absl::Span<const Placement> placements) {
  if (placements.size() != mesh.shape.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("A mesh of shape ", ShapeToString(mesh.shape), " needs ", mesh.shape.size(),
                     " placements, one for each dimension, not ", placements.size(), "."));
  }
  auto chunks = static_cast<int64_t>(mesh.ranks.size());
  for (const Placement& placement : placements) {
    if (placement.dim >= static_cast<int>(shape.size())) {
      return absl::InvalidArgumentError(absl::StrCat("Dimension ", placement.dim,
                                                     " can't be sharded: the tensor has ",
                                                     shape.size(), " dimensions."));
    }
    if (placement.split_factor < 1 || placement.split_factor > Sharding::kMaxRanks) {
      return absl::InvalidArgumentError(
          absl::StrCat("A split factor is a number of chunks from 1 to ", Sharding::kMaxRanks,
                       ", not ", placement.split_factor, "."));
    }
    chunks *= placement.split_factor;
    if (chunks > Sharding::kMaxChunks) {
      return absl::InvalidArgumentError(absl::StrCat("The split factors make more than ",
                                                     Sharding::kMaxChunks, " chunks on a mesh of ",
                                                     mesh.ranks.size(), " ranks."));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Sharding> Sharding::OnMesh(absl::Span<const int64_t> shape, const Mesh& mesh,
                                          absl::Span<const Placement> placements) {
  if (absl::Status s = CheckShape(shape); !s.ok()) return s;
  if (absl::Status s = CheckMesh(mesh); !s.ok()) return s;
  if (absl::Status s = CheckPlacements(shape, mesh, placements); !s.ok()) return s;
  Sharding result;
  result.shape_.assign(shape.begin(), shape.end());
  const int64_t last = *std::max_element(mesh.ranks.begin(), mesh.ranks.end());
  result.locals_.resize(static_cast<size_t>(last) + 1);
  Dims at(mesh.shape.size(), 0);  // the coordinates of the rank in the mesh
  for (const int64_t rank : mesh.ranks) {
    std::vector<Ranges> ranges;
    for (const int64_t size : shape) ranges.push_back(size > 0 ? Ranges{{0, size}} : Ranges());
    for (size_t i = 0; i < placements.size(); ++i) {
      if (placements[i].dim < 0) continue;
      Ranges& sharded = ranges[static_cast<size_t>(placements[i].dim)];
      sharded = Sharded(sharded, placements[i].split_factor, mesh.shape[i], at[i]);
    }
    Dims local;
    for (const Ranges& of_dim : ranges) local.push_back(TotalSize(of_dim));
    result.locals_[static_cast<size_t>(rank)].push_back(std::move(local));
    AppendBoxes(ranges, static_cast<int>(rank), &result.parts_);
    for (size_t i = at.size(); i > 0 && ++at[i - 1] == mesh.shape[i - 1]; --i) at[i - 1] = 0;
  }
  result.IndexParts();
  return result;
}

absl::StatusOr<Sharding> Sharding::OfBoxes(absl::Span<const int64_t> shape,
                                           const std::vector<std::vector<Box>>& boxes) {
  if (absl::Status s = CheckShape(shape); !s.ok()) return s;
  if (static_cast<int64_t>(boxes.size()) > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat(
        "There are boxes for ", boxes.size(), " ranks, and at most ", kMaxRanks, " are possible."));
  }
  Sharding result;
  result.shape_.assign(shape.begin(), shape.end());
  result.locals_.resize(boxes.size());
  for (size_t rank = 0; rank < boxes.size(); ++rank) {
    std::vector<Box> of_rank;
    for (const Box& box : boxes[rank]) {
      bool lies_inside = box.size() == shape.size();
      Dims local;
      for (size_t dim = 0; lies_inside && dim < box.size(); ++dim) {
        lies_inside =
            0 <= box[dim].start && box[dim].start <= box[dim].stop && box[dim].stop <= shape[dim];
        if (lies_inside) local.push_back(box[dim].size());  // else the size can overflow
      }
      if (!lies_inside) {
        return absl::InvalidArgumentError(absl::StrCat("The box ", BoxToString(box), " of rank ",
                                                       rank, " does not lie in a tensor of shape ",
                                                       ShapeToString(shape), "."));
      }
      std::vector<Dims>& locals = result.locals_[rank];
      if (NumElements(box) > 0) {
        of_rank.push_back(box);
        result.parts_.push_back(
            {box, static_cast<int>(rank), static_cast<int>(locals.size()), Dims(shape.size(), 0)});
      }
      locals.push_back(std::move(local));
    }
    const BoxIndex index(std::move(of_rank));
    if (const auto overlap = index.FindOverlap()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Rank ", rank, " has elements twice, in the boxes ", BoxToString(index[overlap->first]),
          " and ", BoxToString(index[overlap->second]), "; a rank has each at most once."));
    }
  }
  result.IndexParts();
  return result;
}

void Sharding::IndexParts() {
  std::stable_sort(parts_.begin(), parts_.end(),
                   [](const Part& a, const Part& b) { return a.rank < b.rank; });
  first_.assign(locals_.size() + 1, 0);
  for (const Part& part : parts_) ++first_[static_cast<size_t>(part.rank) + 1];
  for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

absl::Span<const Part> Sharding::parts(int rank) const {
  if (rank < 0 || rank >= size()) return {};
  const size_t first = first_[static_cast<size_t>(rank)];
  return parts().subspan(first, first_[static_cast<size_t>(rank) + 1] - first);
}

absl::Span<const Dims> Sharding::locals(int rank) const {
  if (rank < 0 || rank >= size()) return {};
  return locals_[static_cast<size_t>(rank)];
}

}  // namespace reshard
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
