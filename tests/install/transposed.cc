#include "transposed.h"

#include "absl/status/statusor.h"
#include "dovetail/copy.h"
#include "dovetail/dovetail.h"

absl::StatusOr<dovetail::Tensor> Transposed(const dovetail::Tensor& matrix) {
  dovetail::RegisterDefaultBackends();
  absl::StatusOr<dovetail::Tensor> turned = matrix.Transpose(0, 1);
  if (!turned.ok()) return turned.status();
  return dovetail::Copied(*turned, {.dtype = dovetail::kInt64});
}
