// A kernel library of this repository's own.
#include "dovetail/kernels.h"

#include <cstdint>
#include <stdexcept>

using dovetail::Arg, dovetail::Out, dovetail::Shape;

void scale_add(Arg<const float, Shape<"n">> x, Arg<const float, Shape<"n">> y, double a,
               Out<float, Shape<"n">> out) {
  for (int64_t i = 0; i < out.size(); ++i) out(i) = static_cast<float>(a) * x(i) + y(i);
}
DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");

void check_size(int64_t size) {
  if (size < 0) throw std::invalid_argument("size is negative");
}
DOVETAIL_KERNEL(check_size, "size");
