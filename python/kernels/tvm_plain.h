// The fast road of a kernel that tvm-ffi calls: tensors in host memory with strides, and numbers,
// all given. What each parameter wants is known to the compiler here. Anything else, and all
// errors, are left to TvmCall.

#ifndef DOVETAIL_PYTHON_KERNELS_TVM_PLAIN_H_
#define DOVETAIL_PYTHON_KERNELS_TVM_PLAIN_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/interop/dlpack/parse.h"
#include "dovetail/python/fit/fill_borrowed.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/parameter_type.h"
#include "dovetail/python/kernels/tvm_ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// One code for all parameters that want the same. False for what it does not know, too.
template <const DovetailRequirements& kWanted>
[[gnu::noinline]] bool TakePlainTensor(const TvmAny& any, int32_t position, DovetailCall* call,
                                       DovetailBorrowed* borrowed) {
  const DLTensor* lent = nullptr;
  if (any.type == kTvmTensor) {
    lent = &Behind<DLTensor>(any);
  } else if (any.type == kTvmDLTensor && any.pointer != nullptr) {
    lent = static_cast<const DLTensor*>(any.pointer);
  } else {
    return false;
  }
  internal_fit::BorrowedDims dims{borrowed};
  ParsedTensor parsed;
  if (!internal_dlpack::ParsePlain(*lent, 0, dims, &parsed)) return false;
  internal_fit::SetBorrowed(*lent, parsed.data, parsed.device, 0, 0, borrowed);
  return internal_fit::FitsPlain<kWanted>(position, call, borrowed);
}

// Whether values of the type have the fast road.
template <typename Type>
constexpr bool IsPlainType() {
  constexpr uint32_t kOthers =
      DOVETAIL_PARAMETER_OPTIONAL | DOVETAIL_PARAMETER_LIST | DOVETAIL_PARAMETER_NO_OVERLAP;
  return (Type::kFlags & kOthers) == 0 && Type::kSizeName == 0 &&
         Type::kKind != DOVETAIL_KIND_STRING && Type::kKind != DOVETAIL_KIND_STREAM;
}

template <typename Type>
[[gnu::always_inline]] inline bool TakePlain(const TvmAny& any, int32_t position,
                                             DovetailCall* call, DovetailBorrowed* borrowed,
                                             DovetailArgument* argument) {
  argument->is_there = 1;
  if constexpr (Type::kKind == DOVETAIL_KIND_TENSOR) {
    argument->value.tensor = borrowed;
    return TakePlainTensor<*Type::kWanted>(any, position, call, borrowed);
  } else if constexpr (Type::kKind == DOVETAIL_KIND_FLOAT) {
    argument->value.number = any.type == kTvmFloat ? any.number : static_cast<double>(any.integer);
    return any.type == kTvmFloat || any.type == kTvmInt;
  } else {
    argument->value.integer = any.integer;
    return any.type == (Type::kKind == DOVETAIL_KIND_BOOL ? kTvmBool : kTvmInt) &&
           (Type::kKind == DOVETAIL_KIND_BOOL ||
            (any.integer >= Type::kLeast && any.integer <= Type::kMost));
  }
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_TVM_PLAIN_H_
