// A library with two kernels of one name.

#include "dovetail/kernels.h"

namespace a {
void same(dovetail::Arg<const float> x) { (void)x; }
}  // namespace a
namespace b {
void same(dovetail::Arg<const float> x) { (void)x; }
}  // namespace b
DOVETAIL_KERNEL(a::same, "x");
DOVETAIL_KERNEL(b::same, "x");
