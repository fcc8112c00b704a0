// Tensors in memory that other processes open: the target @dovetail//:ipc.
//
//   absl::StatusOr<dovetail::Tensor> t = dovetail::ipc::Empty({1024, 1024}, dovetail::kFloat32);
//   absl::StatusOr<dovetail::ipc::Handle> handle = dovetail::ipc::Share(*t);

#ifndef DOVETAIL_IPC_H_
#define DOVETAIL_IPC_H_

#include "dovetail/interop/ipc/handle.h"  // IWYU pragma: export
#include "dovetail/interop/ipc/open.h"    // IWYU pragma: export
#include "dovetail/interop/ipc/pool.h"    // IWYU pragma: export
#include "dovetail/interop/ipc/share.h"   // IWYU pragma: export

#endif  // DOVETAIL_IPC_H_
