// Whether a borrowed tensor meets a function's requirements (capi.h).
//
//   int32_t dimension;
//   const Mismatch found = FindMismatch(borrowed, wanted, &call, &dimension);
//   if (found != Mismatch::kNone) RaiseMismatch(found, dimension, borrowed, wanted, call);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_

#include <Python.h>

#include <cstdint>
#include <string>

#include "dovetail/python/capi.h"

namespace dovetail::python {

enum class Mismatch : uint8_t {
  kNone,
  kDevice,
  kDType,
  kRank,
  kSize,
  kNamedSize,
  kTooManyNames,
  kReadOnly,
  kCContiguous,
  kFContiguous,
  kInnerContiguous,
  kStride,
  kAlignment,
};

// The first requirement that the tensor does not meet, in the order above. Adds the tensor's named
// sizes to `call`. For the kinds about one dimension, `*dimension` becomes that one. Any thread.
Mismatch FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                      DovetailCall* call, int32_t* dimension);

// The index in call.sizes of a named size; call.num_sizes if it is not there.
inline int32_t FindNamedSize(const DovetailCall& call, int64_t name) {
  int32_t i = 0;
  while (i < call.num_sizes && call.sizes[i].name != name) ++i;
  return i;
}

// "add(): argument 2: ", as far as the call knows these. `call` names the argument at hand.
std::string ArgumentPrefix(const DovetailCall& call);

// Sets the error: which argument, what it is, what it must be, and how to convert it. `mismatch` is
// not kNone. Needs the GIL.
void RaiseMismatch(Mismatch mismatch, int32_t dimension, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
