// Copies, casts and fills, with the CPU's engine for them: the target @dovetail//:copy.
//
//   absl::StatusOr<dovetail::Tensor> half = dovetail::Copied(x, {.dtype = dovetail::kFloat16});
//
// Apart from dovetail.h, since the engine's code for each type and processor is several times as
// large as all else.

#ifndef DOVETAIL_COPY_H_
#define DOVETAIL_COPY_H_

#include "dovetail/core/copy.h"  // IWYU pragma: export

#endif  // DOVETAIL_COPY_H_
