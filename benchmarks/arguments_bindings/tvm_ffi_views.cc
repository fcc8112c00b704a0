// The functions with tvm-ffi's TensorView, which has no element type and no rank: each argument is
// checked for them, as the other bindings do.

#include <tvm/ffi/tvm_ffi.h>

#include <span>
#include <stdexcept>

#include "dovetail/benchmarks/arguments_bindings/functions.h"

namespace {

using tvm::ffi::TensorView;

std::span<float> CheckedElements(const TensorView& x) {
  const DLDataType dtype = x.dtype();
  if (x.ndim() != 1 || dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1 ||
      x.device().device_type != kDLCPU || !x.IsContiguous()) {
    throw std::invalid_argument("not a contiguous float32 vector in host memory");
  }
  return {static_cast<float*>(x.data_ptr()), static_cast<size_t>(x.shape()[0])};
}

// One type for inputs and outputs: the overloads of the others would be the same.
struct Binding {
  using In = TensorView;
  using Out = TensorView;
  static std::span<float> Elements(const TensorView& x) { return CheckedElements(x); }
};
using F = dovetail_benchmarks::Functions<Binding>;

}  // namespace

#pragma GCC diagnostic ignored "-Wunused-parameter"  // of the macro
TVM_FFI_DLL_EXPORT_TYPED_FUNC(f1, &F::F1)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(f3, &F::F3)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(f8, &F::F8)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(r1, &F::R1)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(r3, &F::R3)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(r8, &F::R8)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(kept, &F::Kept)
