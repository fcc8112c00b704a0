// The kernels of functions.h as a kernel library: one file for every version of Python and PyTorch.
//
//   g++ -std=c++20 -O2 -shared -fPIC $(python -m dovetail --includes) library.cc -o library.so

#include "dovetail/kernels.h"

#include "functions.h"

namespace examples {

DOVETAIL_KERNEL_AS("scale", Scale, "factor * x", "x", "factor", "out");
DOVETAIL_KERNEL_AS("rms_norm", RmsNorm, "x / sqrt(mean(x**2) + eps) * weight, over the last axis.",
                   "x", "weight", "eps=1e-6", "out");
DOVETAIL_KERNEL_AS("rotate", Rotate, "Rotary embedding, in place.", "x", "cosine", "sine");
DOVETAIL_KERNEL_AS("gather_pages", GatherPages, "pages[table]", "pages", "table", "out");
DOVETAIL_KERNEL_AS("max_of_rows", MaxOfRows, "The largest element of each row, and where it is.",
                   "x", "*", "values", "indices");
DOVETAIL_KERNEL_AS("dequantize_int4", DequantizeInt4, "scale * (packed - 8), two in a byte.",
                   "packed", "scale", "out");
DOVETAIL_KERNEL_AS("flatten", Flatten, "All elements of a list, times scale, in one row.",
                   "tensors", "*", "scale=1.0");

}  // namespace examples
