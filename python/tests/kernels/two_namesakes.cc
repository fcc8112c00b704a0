// A library with two kernels of one name.

#include "dovetail/kernels.h"

void same(dovetail::Arg<const float> x) { (void)x; }
void another(dovetail::Arg<const float> x) { (void)x; }
DOVETAIL_KERNEL(same, "x");
DOVETAIL_KERNEL(another, "x");

// (Two kernels that have one name from the start do not link.)
const bool is_renamed = [] {
  const_cast<DovetailKernel*>(dovetail::internal_kernels::library.kernels)->name = "same";
  return true;
}();
