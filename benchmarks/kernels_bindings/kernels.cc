// The kernel library: one function for every framework.

#include "dovetail/kernels.h"

#include <cstdint>

namespace {

using dovetail::Arg, dovetail::Contiguous, dovetail::Out, dovetail::Shape;

void scale_add(Arg<const float, Shape<"n">, Contiguous> x,
               Arg<const float, Shape<"n">, Contiguous> y, double a,
               Out<float, Shape<"n">, Contiguous> out) {
  const auto factor = static_cast<float>(a);
  for (int64_t i = 0; i < out.size(); ++i) out[i] = factor * x[i] + y[i];
}
DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");

}  // namespace
