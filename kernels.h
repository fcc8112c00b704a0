// Kernels: C++ functions over tensors of every framework, compiled once.
//
//   #include "dovetail/kernels.h"
//   using dovetail::Arg, dovetail::Out, dovetail::Shape;
//
//   void scale_add(Arg<const float, Shape<"n">> x, Arg<const float, Shape<"n">> y, double a,
//                  Out<float, Shape<"n">> out) {
//     for (int64_t i = 0; i < out.size(); ++i) out(i) = static_cast<float>(a) * x(i) + y(i);
//   }
//   DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");
//
//   g++ -std=c++20 -O2 -shared -fPIC $(python -m dovetail --includes) kernels.cc -o kernels.so
//
// The shared object links no Python and no framework: one file serves every version of these.
// Python loads it by dovetail.load_kernels("kernels.so", namespace="mylib"), docs/kernels.md.
// Modules of nanobind and pybind11 include dovetail/python/casters instead, and not this header.
//
// C++17; names of sizes in quotation marks need C++20. Exceptions become Python's: ValueError for
// std::invalid_argument, IndexError for std::out_of_range, RuntimeError for others. A kernel may be
// called by several threads at once, and must not use Python.

#ifndef DOVETAIL_KERNELS_H_
#define DOVETAIL_KERNELS_H_

#if defined(DOVETAIL_PYTHON_ARGS_SIZES_H_) && !defined(DOVETAIL_WITHOUT_PYTHON)
#error "Include dovetail/kernels.h before dovetail's other headers. A file has kernels or casters."
#endif
#ifndef DOVETAIL_WITHOUT_PYTHON
#define DOVETAIL_WITHOUT_PYTHON 1
#endif

#include "dovetail/core/freestanding/narrow_floats.h"
#include "dovetail/python/arg.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/args/parallel_for.h"
#include "dovetail/python/args/reduce.h"
#include "dovetail/python/args/rows.h"
#include "dovetail/python/args/size_arg.h"
#include "dovetail/python/kernels/kernel.h"
#include "dovetail/python/kernels/kernel_stream.h"
#include "dovetail/python/owned_tensor.h"

#endif  // DOVETAIL_KERNELS_H_
