// Kernels over float32 tensors of every library:
//
//   add(x, y)          x + y
//   normalize(x)       x / sqrt(sum(x^2))

#include "dovetail/kernels.h"

#include <cmath>
#include <cstdint>

using dovetail::AllowCopy, dovetail::Arg, dovetail::Contiguous, dovetail::Out, dovetail::Shape;

// x and y may have any strides, and out may be one of them.
void add(Arg<const float, Shape<"n">> x, Arg<const float, Shape<"n">> y,
         Out<float, Shape<"n">> out) {
  for (int64_t i = 0; i < out.size(); ++i) out(i) = x(i) + y(i);
}
DOVETAIL_KERNEL_DOC(add, "Return x + y: float32 tensors of one dimension.", "x", "y", "out");

// Any shape. A tensor with other strides is copied.
void normalize(Arg<const float, Shape<"...">, Contiguous, AllowCopy> x,
               Out<float, Shape<"...">, Contiguous> out) {
  double squares = 0;
  for (int64_t i = 0; i < x.size(); ++i) squares += double{x[i]} * x[i];
  const float norm = static_cast<float>(std::sqrt(squares));
  for (int64_t i = 0; i < x.size(); ++i) out[i] = x[i] / norm;
}
DOVETAIL_KERNEL_DOC(normalize, "Return x / sqrt(sum(x^2)).", "x", "out");
