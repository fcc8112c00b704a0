// out = a * x + y, for the peers of kernels.cc: only what takes their arguments differs.
//
// Errors: std::invalid_argument for vectors of different sizes.

#ifndef DOVETAIL_BENCHMARKS_KERNELS_BINDINGS_SCALE_ADD_H_
#define DOVETAIL_BENCHMARKS_KERNELS_BINDINGS_SCALE_ADD_H_

#include <cstddef>
#include <span>
#include <stdexcept>

namespace dovetail_benchmarks {

inline void ScaleAdd(std::span<const float> x, std::span<const float> y, double a,
                     std::span<float> out) {
  if (x.size() != out.size() || y.size() != out.size()) {
    throw std::invalid_argument("vectors of different sizes");
  }
  const auto factor = static_cast<float>(a);
  for (size_t i = 0; i < out.size(); ++i) out[i] = factor * x[i] + y[i];
}

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_KERNELS_BINDINGS_SCALE_ADD_H_
