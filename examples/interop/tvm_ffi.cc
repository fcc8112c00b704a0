// Hands tensors to a function of tvm-ffi and takes its result: bazel run //examples/interop:tvm_ffi

#include <tvm/ffi/tvm_ffi.h>

#include <cstdio>
#include <vector>

#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "dovetail/interop/tvm_ffi/import.h"

using dovetail::Tensor;

// A stand-in for a function of a compiled module: doubles `x` in place and returns it.
static tvm::ffi::Function Doubled() {
  return tvm::ffi::Function::FromTyped([](tvm::ffi::Tensor x) {
    for (int64_t i = 0; i < x.numel(); ++i) static_cast<float*>(x.data_ptr())[i] *= 2;
    return x;
  });
}

int main() {
  const tvm::ffi::Function doubled = Doubled();
  // [page]
  absl::StatusOr<Tensor> x = Tensor::Wrap(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  absl::StatusOr<tvm::ffi::Tensor> in = dovetail::AsTvmFfi(*x);  // the vector's memory
  tvm::ffi::Tensor out = doubled(*in).cast<tvm::ffi::Tensor>();
  absl::StatusOr<Tensor> y = dovetail::FromTvmFfi(out);       // x again: the same storage
  const absl::Span<float> values = y->span<float>().value();  // 2, 4, …, 12
  // [page]
  const bool shared = y->storage().get() == x->storage().get();
  std::printf("%g, %s\n", values[5], shared ? "one memory" : "NOT SHARED");
  return shared && values[5] == 12 ? 0 : 1;
}
