// A function of tvm-ffi, written with its C++ header.

#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <span>
#include <stdexcept>

#include "dovetail/benchmarks/kernels_bindings/scale_add.h"

namespace {

using tvm::ffi::TensorView;

std::span<float> Vector(const TensorView& x) {
  if (x.dtype() != DLDataType{kDLFloat, 32, 1}) TVM_FFI_THROW(TypeError) << "must be float32";
  if (x.ndim() != 1) TVM_FFI_THROW(TypeError) << "must have one dimension";
  if (x.device().device_type != kDLCPU) TVM_FFI_THROW(TypeError) << "must be in host memory";
  if (!x.IsContiguous()) TVM_FFI_THROW(ValueError) << "must be contiguous";
  return {static_cast<float*>(x.data_ptr()), static_cast<size_t>(x.size(0))};
}

void ScaleAdd(TensorView x, TensorView y, double a, TensorView out) {
  dovetail_benchmarks::ScaleAdd(Vector(x), Vector(y), a, Vector(out));
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale_add, ScaleAdd);
