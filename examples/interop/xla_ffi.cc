// A handler of XLA's FFI, which xla_ffi_test.py calls from jax.jit.

#include <algorithm>
#include <numeric>

#include "dovetail/dovetail.h"
#include "dovetail/interop/xla_ffi/buffer.h"
#include "dovetail/interop/xla_ffi/error.h"

namespace ffi = xla::ffi;
using dovetail::Tensor;

// Divides each row of `x` by its sum.
static absl::Status NormaliseRow(const Tensor& x, const Tensor& y) {
  const absl::StatusOr<absl::Span<const float>> from = x.span<const float>();
  const absl::StatusOr<absl::Span<float>> to = y.span<float>();
  if (!from.ok() || !to.ok()) return from.ok() ? to.status() : from.status();
  const float sum = std::accumulate(from->begin(), from->end(), 0.0F);
  std::transform(from->begin(), from->end(), to->begin(), [sum](float v) { return v / sum; });
  return absl::OkStatus();
}

// [page]
ffi::Error NormaliseRows(ffi::AnyBuffer in, ffi::Result<ffi::AnyBuffer> out) {
  absl::StatusOr<Tensor> x = dovetail::AsTensor(in);   // XLA's memory, read-only
  absl::StatusOr<Tensor> y = dovetail::AsTensor(out);  // writable
  if (!x.ok() || !y.ok()) return dovetail::ToFfiError(x.ok() ? y.status() : x.status());
  if (x->rank() != 2 || x->shape() != y->shape())
    return ffi::Error::InvalidArgument("Pass a matrix");
  for (int64_t i = 0; i < x->shape()[0]; ++i) {
    absl::Status done = NormaliseRow(*x->Select(0, i), *y->Select(0, i));
    if (!done.ok()) return dovetail::ToFfiError(done);
  }
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER_SYMBOL(normalise_rows, NormaliseRows,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
// [page]
