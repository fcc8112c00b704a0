// A part of a program that copies, casts and knows nothing else of Dovetail.

#ifndef DOVETAIL_TESTS_INSTALL_TRANSPOSED_H_
#define DOVETAIL_TESTS_INSTALL_TRANSPOSED_H_

#include "absl/status/statusor.h"
#include "dovetail/core/tensor.h"

// The transposed matrix of int64, row-major, in memory of its own.
absl::StatusOr<dovetail::Tensor> Transposed(const dovetail::Tensor& matrix);

#endif  // DOVETAIL_TESTS_INSTALL_TRANSPOSED_H_
