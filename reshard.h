// The arithmetic of resharding a tensor: the target @dovetail//:reshard.
//
//   using namespace dovetail::reshard;
//   const Mesh mesh = {.shape = {2}, .ranks = {0, 1}};
//   absl::StatusOr<Sharding> rows = Sharding::OnMesh({4, 6}, mesh, {Placement::Shard(0)});
//   absl::StatusOr<Sharding> columns = Sharding::OnMesh({4, 6}, mesh, {Placement::Shard(1)});
//   absl::StatusOr<Plan> plan = Plan::Make(*rows, *columns);
//   plan->ForEachReceive(0, [](const Piece& piece) { Handle(piece); });
//
// It needs neither a network nor a device. In Python, dovetail.Reshard also moves the elements.

#ifndef DOVETAIL_RESHARD_H_
#define DOVETAIL_RESHARD_H_

#include "dovetail/core/reshard/box.h"       // IWYU pragma: export
#include "dovetail/core/reshard/plan.h"      // IWYU pragma: export
#include "dovetail/core/reshard/sharding.h"  // IWYU pragma: export

#endif  // DOVETAIL_RESHARD_H_
