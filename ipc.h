// Tensors in memory that other processes open: the target @dovetail//:ipc.
//
//   absl::StatusOr<dovetail::ipc::Pool> pool = dovetail::ipc::Pool::Create({.nbytes = 1 << 30});
//   absl::StatusOr<dovetail::Tensor> t = pool->Empty({1024, 1024}, dovetail::kFloat32);
//   absl::StatusOr<std::string> message = pool->Share(*t);
//   absl::StatusOr<dovetail::Tensor> there = dovetail::ipc::Open(*message);  // in another process

#ifndef DOVETAIL_IPC_H_
#define DOVETAIL_IPC_H_

#include "dovetail/core/ipc/write_faults.h"  // IWYU pragma: export
#include "dovetail/interop/ipc/handle.h"     // IWYU pragma: export
#include "dovetail/interop/ipc/open.h"       // IWYU pragma: export
#include "dovetail/interop/ipc/pool.h"       // IWYU pragma: export
#include "dovetail/interop/ipc/share.h"      // IWYU pragma: export

#endif  // DOVETAIL_IPC_H_
