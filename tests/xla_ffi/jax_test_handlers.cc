// Handlers that jax_test.py calls from jax.jit.

#include "dovetail/copy.h"
#include "dovetail/dovetail.h"
#include "dovetail/interop/xla_ffi/buffer.h"
#include "dovetail/interop/xla_ffi/error.h"

namespace dovetail {
namespace {

namespace ffi = xla::ffi;

// Casts `in` to the type of `out`, element by element: reads and writes every type.
ffi::Error CastTo(ffi::AnyBuffer in, ffi::Result<ffi::AnyBuffer> out) {
  RegisterDefaultBackends();
  const absl::StatusOr<Tensor> x = AsTensor(in);
  if (!x.ok()) return ToFfiError(x.status());
  absl::StatusOr<Tensor> y = AsTensor(out);
  if (!y.ok()) return ToFfiError(y.status());
  return ToFfiError(CopyInto(*y, *x));
}

// Fails: tries to write into its argument.
ffi::Error WriteToArgument(ffi::AnyBuffer in, ffi::Result<ffi::AnyBuffer>) {
  const absl::StatusOr<Tensor> x = AsTensor(in);
  return ToFfiError(x.ok() ? x->data<float>().status() : x.status());
}

// The address of the argument's memory, to be compared with JAX's.
ffi::Error AddressOf(ffi::AnyBuffer in, ffi::ResultBufferR0<ffi::U64> out) {
  const absl::StatusOr<XlaBufferView> x = AsTensorView(in);
  const absl::StatusOr<Tensor> y = AsTensor(out);
  if (!x.ok() || !y.ok()) return ToFfiError(x.ok() ? y.status() : x.status());
  **y->data<uint64_t>() = reinterpret_cast<uintptr_t>(x->view().data);
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(CastToHandler, CastTo,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(WriteHandler, WriteToArgument,
                              ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::AnyBuffer>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    AddressHandler, AddressOf,
    ffi::Ffi::Bind().Arg<ffi::AnyBuffer>().Ret<ffi::BufferR0<ffi::U64>>());

}  // namespace dovetail
