// Whether a borrowed tensor meets a function's requirements (capi.h).
//
//   const Mismatch found = FindMismatch(borrowed, wanted, &call);
//   if (found.kind != Mismatch::kNone) return RaiseMismatch(found, borrowed, wanted, call);

#ifndef DOVETAIL_PYTHON_EXCHANGE_BORROW_MISMATCH_H_
#define DOVETAIL_PYTHON_EXCHANGE_BORROW_MISMATCH_H_

#include <Python.h>

#include <cstdint>
#include <string>

#include "dovetail/python/capi.h"

namespace dovetail::python {

struct Mismatch {
  enum Kind : uint8_t {
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
  Kind kind = kNone;
  int32_t dimension = -1;  // for kSize, kNamedSize and kStride
  int32_t known_size =
      0;  // for kNamedSize: the index in call.sizes of the size that it contradicts
};

// The first requirement that the tensor does not meet, in the order above. Adds the tensor's named
// sizes to `call`. Any thread.
Mismatch FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                      DovetailCall* call);

// "add(): argument 2: ", as far as the call knows these. `call` names the argument at hand.
std::string ArgumentPrefix(const DovetailCall& call);

// Sets the error: which argument, what it is, what it must be, and how to convert it. The kind is
// not kNone. Needs the GIL.
void RaiseMismatch(const Mismatch& mismatch, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_BORROW_MISMATCH_H_
