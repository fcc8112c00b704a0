#include "dovetail/python/module/reshard/plan_class.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/reshard/plan.h"
#include "dovetail/core/reshard/sharding.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/or_throw.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

using reshard::Box;
using reshard::Piece;
using reshard::Placement;
using reshard::Plan;
using reshard::Sharding;

using PythonRange = std::pair<int64_t, int64_t>;
using PythonBoxes = std::vector<std::vector<std::vector<PythonRange>>>;  // by rank

nb::object Tuple(absl::Span<const int64_t> values) {
  PyObject* const tuple = ShapeToPython(values);
  if (tuple == nullptr) throw nb::python_error();
  return nb::steal(tuple);
}

// A list of ranks' boxes, or a tuple of a mesh's shape, ranks and placements.
absl::StatusOr<Sharding> ParseSharding(const std::vector<int64_t>& shape, nb::handle object) {
  if (!nb::isinstance<nb::tuple>(object)) {
    std::vector<std::vector<Box>> boxes;
    for (const auto& of_rank : nb::cast<PythonBoxes>(object)) {
      boxes.emplace_back();
      for (const std::vector<PythonRange>& box : of_rank) {
        boxes.back().emplace_back();
        for (const auto& [start, stop] : box) boxes.back().back().push_back({start, stop});
      }
    }
    return WithoutGilIf(true, [&] { return Sharding::OfBoxes(shape, boxes); });
  }
  const nb::tuple parts = nb::cast<nb::tuple>(object);
  if (parts.size() != 3) return absl::InvalidArgumentError("A mesh is (shape, ranks, placements).");
  reshard::Mesh mesh;
  for (const int64_t size : nb::cast<std::vector<int64_t>>(parts[0])) mesh.shape.push_back(size);
  mesh.ranks = nb::cast<std::vector<int64_t>>(parts[1]);
  std::vector<Placement> placements;
  for (const auto& [dim, split] : nb::cast<std::vector<std::pair<int, int64_t>>>(parts[2])) {
    placements.push_back({dim, split});
  }
  return WithoutGilIf(true, [&] { return Sharding::OnMesh(shape, mesh, placements); });
}

// A message that says which of the two layouts is wrong.
Sharding SideOrThrow(const std::vector<int64_t>& shape, nb::handle object, const char* name) {
  absl::StatusOr<Sharding> sharding = ParseSharding(shape, object);
  if (sharding.ok()) return *std::move(sharding);
  OrThrow(absl::Status(sharding.status().code(),
                       absl::StrCat("The ", name, ": ", sharding.status().message())));
  return *std::move(sharding);  // not reached
}

// The pieces that `for_each`, a function of Plan, lists for a rank: tuples with the fields of
// dovetail.reshard.Piece.
template <auto for_each>
nb::list Pieces(const Plan& plan, int rank) {
  std::vector<Piece> pieces;
  WithoutGilIf(
      true, [&] { (plan.*for_each)(rank, [&](const Piece& piece) { pieces.push_back(piece); }); });
  nb::list result;
  for (const Piece& piece : pieces) {
    reshard::Dims start, shape;
    for (const reshard::Range& range : piece.box) {
      start.push_back(range.start);
      shape.push_back(range.size());
    }
    result.append(nb::make_tuple(piece.source, piece.target, piece.source_local, piece.target_local,
                                 Tuple(piece.source_start), Tuple(piece.target_start), Tuple(start),
                                 Tuple(shape)));
  }
  return result;
}

// The numbers of elements that `count`, a function of Plan, lists for a rank.
template <auto count>
std::vector<int64_t> Elements(const Plan& plan, int rank) {
  return WithoutGilIf(true, [&] { return (plan.*count)(rank); });
}

nb::list Locals(const Sharding& sharding, int rank) {
  nb::list result;
  for (const reshard::Dims& local : sharding.locals(rank)) result.append(Tuple(local));
  return result;
}

nb::list Parts(const Sharding& sharding, int rank) {
  nb::list result;
  for (const reshard::Part& part : sharding.parts(rank)) {
    nb::list box;
    for (const reshard::Range& range : part.box)
      box.append(nb::make_tuple(range.start, range.stop));
    result.append(nb::tuple(box));
  }
  return result;
}

}  // namespace

void AddReshardPlan(nb::module_& m) {
  nb::class_<Plan> c(m, "_ReshardPlan", "The planner of dovetail.Reshard: core/reshard/plan.h.");
  c.def(
      "__init__",
      [](Plan* self, const std::vector<int64_t>& shape, nb::handle source, nb::handle target,
         std::vector<int64_t> hosts, bool partial) {
        OrThrow(Layout::Contiguous(shape).status());
        Sharding from = SideOrThrow(shape, source, "source");
        Sharding to = SideOrThrow(shape, target, "target");
        absl::StatusOr<Plan> plan = WithoutGilIf(true, [&] {
          return Plan::Make(std::move(from), std::move(to), {std::move(hosts), partial});
        });
        new (self) Plan(OrThrow(std::move(plan)));
      },
      nb::arg("shape"), nb::arg("source"), nb::arg("target"), nb::arg("hosts"), nb::arg("partial"),
      "Each side is a list with a list of boxes for each rank, or (mesh's shape, its ranks, its\n"
      "placements), with (dimension or -1, split factor) for each dimension of the mesh.");
  c.def_prop_ro("size", &Plan::size);
  c.def("receives", &Pieces<&Plan::ForEachReceive>, nb::arg("rank"),
        "What a rank needs: a list with the fields of each Piece.");
  c.def("sends", &Pieces<&Plan::ForEachSend>, nb::arg("rank"),
        "What others need of a rank, as receives().");
  c.def("moved", &Plan::MovedElements, "The number of elements that go from a rank to another.");
  c.def("sent", &Elements<&Plan::SentElements>, nb::arg("rank"),
        "The numbers of elements for each rank.");
  c.def("received", &Elements<&Plan::ReceivedElements>, nb::arg("rank"),
        "The numbers of elements from each rank.");
  c.def(
      "locals",
      [](const Plan& plan, bool source, int rank) {
        return Locals(source ? plan.source() : plan.target(), rank);
      },
      nb::arg("source"), nb::arg("rank"), "The shapes of a rank's own tensors.");
  c.def(
      "boxes",
      [](const Plan& plan, bool source, int rank) {
        return Parts(source ? plan.source() : plan.target(), rank);
      },
      nb::arg("source"), nb::arg("rank"), "What a rank has, as tuples of (start, stop).");
  c.def(
      "canonical",
      [](const Plan& plan) {
        const std::string text = WithoutGilIf(true, [&] { return plan.Canonical(); });
        return nb::bytes(text.data(), text.size());
      },
      "What the pieces depend on.");
}

}  // namespace dovetail::python
