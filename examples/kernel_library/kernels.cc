// The kernels of docs/kernels.md, which //docs/site:pages_test compares and calls.

// kernels.cc
#include "dovetail/kernels.h"
using dovetail::Arg, dovetail::Out, dovetail::Shape;

void scale_add(Arg<const float, Shape<"n">> x, Arg<const float, Shape<"n">> y, double a,
               Out<float, Shape<"n">> out) {
  for (int64_t i = 0; i < out.size(); ++i) out(i) = static_cast<float>(a) * x(i) + y(i);
}
DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");

#include <algorithm>

using Real = dovetail::OneOf<"T", float, double, dovetail::float16, dovetail::bfloat16>;

void limit(dovetail::InOut<Real, Shape<"n">> x, double low, double high) {
  if (low > high) throw std::invalid_argument("low is above high");
  Dispatch(x, [&]<class T>() {
    const auto v = x.view<T>();
    for (int64_t i = 0; i < v.size(); ++i) {
      v(i) = static_cast<T>(std::clamp(static_cast<double>(v(i)), low, high));
    }
  });
}
DOVETAIL_KERNEL_DOC(limit, "Limit the elements of x, in place.", "x", "low=0.0", "*", "high=1.0");
