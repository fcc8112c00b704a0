// Whether a borrowed tensor meets a function's requirements (capi.h).
//
//   if (Fits(borrowed, wanted, &call)) return 0;
//   RaiseMismatch(FindMismatch(borrowed, wanted, &call), borrowed, wanted, call);

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_

#include <Python.h>

#include <bit>
#include <cstdint>
#include <string>

#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/requirements.h"
#include "dovetail/python/capi.h"

namespace dovetail::python {

using internal_interop::Misfit;
using internal_interop::Want;

// The index in call.sizes of a named size; call.num_sizes if it is not there.
inline int32_t FindNamedSize(const DovetailCall& call, int64_t name) {
  int32_t i = 0;
  while (i < call.num_sizes && call.sizes[i].name != name) ++i;
  return i;
}

// Whether a size is the one that `call` knows by this name. A new name is added to `call`, if it
// has room.
inline bool FitsNamedSize(int64_t size, int64_t name, DovetailCall* call) {
  const int32_t known = FindNamedSize(*call, name);
  if (known < call->num_sizes) return call->sizes[known].size == size;
  if (known == DOVETAIL_MAX_NAMED_SIZES) return false;
  call->sizes[known] = {name, size, call->position};
  ++call->num_sizes;
  return true;
}

// The bits of DovetailRequirements.flags about the tensor; Requirements.flags has the same.
inline constexpr uint32_t kTensorFlags = DOVETAIL_NDIM | DOVETAIL_WRITABLE | DOVETAIL_C_CONTIGUOUS |
                                         DOVETAIL_F_CONTIGUOUS | DOVETAIL_INNER_CONTIGUOUS;

// Requirements.flags of these. (A contiguous tensor has no stride of 0.)
constexpr uint32_t FlagsOf(const DovetailRequirements& wanted) {
  constexpr uint32_t kRules =
      DOVETAIL_WRITABLE | DOVETAIL_ALLOW_REPEATS | DOVETAIL_C_CONTIGUOUS | DOVETAIL_F_CONTIGUOUS;
  const bool is_distinct = (wanted.flags & kRules) == DOVETAIL_WRITABLE;
  return (wanted.flags & kTensorFlags) |
         (is_distinct ? uint32_t{internal_interop::kWantNoRepeats} : 0);
}

// Whether the tensor meets the requirements: FindMismatch(...).fits() by the parts of FindMisfit(),
// so that each loads what it looks at and no more. Adds the tensor's named sizes to `call`. Any
// thread.
[[gnu::always_inline]] inline bool Fits(const DovetailBorrowed& borrowed,
                                        const DovetailRequirements& wanted, DovetailCall* call) {
  namespace parts = internal_interop::misfit_parts;
  const DLTensor& tensor = borrowed.tensor;
  const uint32_t flags = FlagsOf(wanted);
  if (!parts::IsDevice(tensor.device.device_type, wanted.device_type) ||
      (wanted.dtype.bits != 0 &&
       std::bit_cast<uint32_t>(tensor.dtype) != std::bit_cast<uint32_t>(wanted.dtype)) ||
      (tensor.ndim != wanted.ndim &&
       (wanted.shape != nullptr || wanted.strides != nullptr || (flags & DOVETAIL_NDIM) != 0))) {
    return false;
  }
  const internal_interop::Offer offer = {
      .rank = tensor.ndim, .shape = tensor.shape, .strides = tensor.strides};
  const auto fits_name = [&](int32_t axis) {
    return FitsNamedSize(tensor.shape[axis], wanted.shape[axis], call);
  };
  if (!parts::FindWrongSize(offer, {.shape = wanted.shape}, fits_name).fits() ||
      ((flags & DOVETAIL_WRITABLE) != 0 && (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) ||
      !parts::FindWrongStride(offer, {.strides = wanted.strides, .flags = flags}).fits()) {
    return false;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  return parts::IsAligned(address, wanted.alignment) || parts::IsEmpty(offer);
}

// The first requirement that the tensor does not meet. Adds the tensor's named sizes to `call`; a
// size that does not go with its name is a Want::kSize whose wanted value is the name. Any thread.
Misfit FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                    DovetailCall* call);

// "add(): argument 2: ", as far as the call knows these. `call` names the argument at hand.
std::string ArgumentPrefix(const DovetailCall& call);

// Sets the error: which argument, what it is, what it must be, and how to convert it. `misfit` is
// that of FindMismatch(). Needs the GIL.
void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
