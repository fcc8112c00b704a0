// What a C++ program needs to exchange tensors: the core, the CPU backend and the DLPack door.
//
//   dovetail::RegisterDefaultBackends();
//   absl::StatusOr<dovetail::Tensor> x = dovetail::FromDLPack(managed);   // takes ownership
//   absl::StatusOr<dovetail::Tensor> rows = x->Slice(0, {.start = 1, .stop = 3});
//   absl::StatusOr<dovetail::UniqueDLPack> out = dovetail::ToDLPack(*rows);
//
// Copies are in copy.h, memory shared with other processes in ipc.h, each a target of its own.
// Each header can be included alone; it documents its errors, ownership and thread safety.

#ifndef DOVETAIL_DOVETAIL_H_
#define DOVETAIL_DOVETAIL_H_

#include "dovetail/core/device.h"               // IWYU pragma: export
#include "dovetail/core/dtype.h"                // IWYU pragma: export
#include "dovetail/core/index.h"                // IWYU pragma: export
#include "dovetail/core/layout.h"               // IWYU pragma: export
#include "dovetail/core/registry.h"             // IWYU pragma: export
#include "dovetail/core/storage.h"              // IWYU pragma: export
#include "dovetail/core/stream.h"               // IWYU pragma: export
#include "dovetail/core/tensor.h"               // IWYU pragma: export
#include "dovetail/core/tensor_view.h"          // IWYU pragma: export
#include "dovetail/core/version.h"              // IWYU pragma: export
#include "dovetail/devices/register_default.h"  // IWYU pragma: export
#include "dovetail/interop/dlpack/export.h"     // IWYU pragma: export
#include "dovetail/interop/dlpack/import.h"     // IWYU pragma: export
#include "dovetail/interop/dlpack/managed.h"    // IWYU pragma: export
#include "dovetail/interop/dlpack/view.h"       // IWYU pragma: export

#endif  // DOVETAIL_DOVETAIL_H_
