// A handler of XLA's foreign function interface, written with its C++ header.

#include <cstdint>
#include <exception>
#include <span>

#include "dovetail/benchmarks/kernels_bindings/scale_add.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using Vector = ffi::Buffer<ffi::F32, 1>;

ffi::Error ScaleAdd(Vector x, Vector y, double a, ffi::Result<Vector> out) {
  const auto read = [](const Vector& v) {
    return std::span<const float>(v.typed_data(), v.element_count());
  };
  try {
    dovetail_benchmarks::ScaleAdd(read(x), read(y), a, {out->typed_data(), out->element_count()});
  } catch (const std::exception& error) {
    return ffi::Error::InvalidArgument(error.what());
  }
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    scale_add_handler, ScaleAdd,
    ffi::Ffi::Bind().Arg<Vector>().Arg<Vector>().Attr<double>("a").Ret<Vector>());
