// The binding for functions.h with Dovetail's arguments.

#ifndef DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_DOVETAIL_BINDING_H_
#define DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_DOVETAIL_BINDING_H_

#include <span>

#include "dovetail/python/arg.h"

namespace dovetail_benchmarks {

struct DovetailBinding {
  using In = dovetail::Arg<const float, dovetail::Shape<-1>, dovetail::Contiguous>;
  using Out = dovetail::Arg<float, dovetail::Shape<-1>, dovetail::Contiguous>;
  static std::span<const float> Elements(const In& x) { return x.span(); }
  static std::span<float> Elements(const Out& x) { return x.span(); }
};

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_DOVETAIL_BINDING_H_
