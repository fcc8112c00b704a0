// SizeArg: an integer argument that is a size of results.
//
//   void TopK(Arg<const float, Shape<"...", "n">, InnerContiguous> x, SizeArg<"k"> k,
//             Out<float, Shape<"...", "k">> values, Out<int64_t, Shape<"...", "k">> indices);
//
// Agrees with the sizes of that name of the call's tensors. Never negative. C++20.

#ifndef DOVETAIL_PYTHON_ARGS_SIZE_ARG_H_
#define DOVETAIL_PYTHON_ARGS_SIZE_ARG_H_

#include <cstdint>

#include "dovetail/python/args/sizes.h"

#if __cplusplus >= 202002L  // nothing in C++17

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {

template <Size kName>
class SizeArg {
 public:
  static_assert(kName.value < -1 && !internal_arg::IsLeading(kName.value), "A size has a name.");

  explicit SizeArg(int64_t value) : value_(value) {}
  operator int64_t() const { return value_; }  // NOLINT(google-explicit-constructor)

 private:
  int64_t value_;
};

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // C++20

#endif  // DOVETAIL_PYTHON_ARGS_SIZE_ARG_H_
