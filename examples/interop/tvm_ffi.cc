// Calls a function of tvm-ffi with a tensor of Dovetail: bazel run //examples/interop:tvm_ffi

#include <tvm/ffi/function.h>

#include <cstdio>

#include "dovetail/dovetail.h"
#include "dovetail/interop/tvm_ffi/export.h"
#include "dovetail/interop/tvm_ffi/import.h"

using dovetail::Tensor;

int main() {
  // [page]
  auto fill = tvm::ffi::Function::FromTyped([](tvm::ffi::TensorView out, double value) {
    absl::StatusOr<dovetail::TensorView> view = dovetail::AsTensorView(out);  // borrows
    auto* data = static_cast<float*>(view->data);
    for (int64_t i = 0; i < view->shape[0]; ++i) data[i] = static_cast<float>(value);
  });
  absl::StatusOr<Tensor> x = Tensor::Wrap(std::vector<float>(3), {3});
  absl::StatusOr<tvm::ffi::Tensor> out = dovetail::AsTvmFfi(*x);  // the vector's memory
  fill(*out, 7.0);
  absl::StatusOr<Tensor> back = dovetail::FromTvmFfi(*out);
  // [page]
  const bool shared = out->data_ptr() == x->raw_data() && back->raw_data() == x->raw_data();
  std::printf("%g, %s\n", **x->at<float>({2}), shared ? "one memory" : "NOT SHARED");
  return shared && **x->at<float>({2}) == 7 ? 0 : 1;
}
