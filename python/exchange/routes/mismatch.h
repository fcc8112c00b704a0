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

// The number of the name alone in an entry of a required shape, and how many times the named size
// is wanted (capi.h).
inline constexpr int64_t kNameBits = (int64_t{1} << 56) - 1;
constexpr int64_t NameIn(int64_t wanted) { return -1 - ((-1 - wanted) & kNameBits); }
constexpr int64_t MultipleIn(int64_t wanted) { return ((-1 - wanted) >> 56) + 1; }

// The index of what has the name; `count` if it is not there.
template <typename Named>
int32_t FindNamed(const Named* all, int32_t count, int64_t name) {
  int32_t i = 0;
  while (i < count && all[i].name != name) ++i;
  return i;
}
// In call.sizes, call.types and call.leads.
inline int32_t FindNamedSize(const DovetailCall& call, int64_t name) {
  return FindNamed(call.sizes, call.num_sizes, name);
}
inline int32_t FindNamedType(const DovetailCall& call, int64_t name) {
  return FindNamed(call.types, call.num_types, name);
}
inline int32_t FindNamedLead(const DovetailCall& call, int64_t name) {
  return FindNamed(call.leads, call.num_leads, name);
}

// The same for a size that is several times a named one.
bool FitsMultiple(int64_t size, int64_t wanted, DovetailCall* call);

// Whether a size is the one that `call` knows by this name. A new name is added to `call`, if it
// has room.
inline bool FitsNamedSize(int64_t size, int64_t name, DovetailCall* call) {
  if (name < -1 - kNameBits) [[unlikely]]
    return FitsMultiple(size, name, call);
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

// Whether the type is one of wanted.types, for DOVETAIL_ONE_OF.
inline bool IsOneOf(DLDataType dtype, const DovetailRequirements& wanted) {
  int32_t i = 0;
  while (i < wanted.num_types &&
         std::bit_cast<uint32_t>(wanted.types[i]) != std::bit_cast<uint32_t>(dtype)) {
    ++i;
  }
  return i < wanted.num_types;
}

// Whether the type is one of wanted.types, the one that `call` knows by wanted.type_name, and the
// memory aligned to it.
bool FitsTypes(const DLTensor& tensor, const DovetailRequirements& wanted, DovetailCall* call);

// Whether the type is the wanted one, or one of those.
[[gnu::always_inline]] inline bool FitsType(const DLTensor& tensor,
                                            const DovetailRequirements& wanted,
                                            DovetailCall* call) {
  if (std::bit_cast<uint32_t>(tensor.dtype) == std::bit_cast<uint32_t>(wanted.dtype)) return true;
  return wanted.dtype.bits == 0 &&
         ((wanted.flags & DOVETAIL_ONE_OF) == 0 || FitsTypes(tensor, wanted, call));
}

// What Fits() and FitsLast() have in common: sizes, access, strides and alignment. `flags` is
// FlagsOf(wanted); wanted.shape begins with dimension `first`.
[[gnu::always_inline]] inline bool FitsRest(const DovetailBorrowed& borrowed,
                                            const DovetailRequirements& wanted, uint32_t flags,
                                            int32_t first, DovetailCall* call) {
  namespace parts = internal_interop::misfit_parts;
  const DLTensor& tensor = borrowed.tensor;
  const internal_interop::Offer offer = {
      .rank = tensor.ndim, .shape = tensor.shape, .strides = tensor.strides};
  const internal_interop::Offer last = {.rank = tensor.ndim - first, .shape = tensor.shape + first};
  const auto fits_name = [&](int32_t axis) {
    return FitsNamedSize(last.shape[axis], wanted.shape[axis], call);
  };
  if (!parts::FindWrongSize(last, {.shape = wanted.shape}, fits_name).fits() ||
      ((flags & DOVETAIL_WRITABLE) != 0 && (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) ||
      !parts::FindWrongStride(offer, {.strides = wanted.strides, .flags = flags}).fits()) {
    return false;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  return parts::IsAligned(address, wanted.alignment) || parts::IsEmpty(offer);
}

// Whether the tensor meets the requirements: FindMismatch(...).fits() by the parts of FindMisfit(),
// so that each loads what it looks at and no more. False without a look for DOVETAIL_LEADING. Adds
// the tensor's named sizes and type to `call`. Any thread.
[[gnu::always_inline]] inline bool Fits(const DovetailBorrowed& borrowed,
                                        const DovetailRequirements& wanted, DovetailCall* call) {
  const DLTensor& tensor = borrowed.tensor;
  const uint32_t flags = FlagsOf(wanted);
  if ((wanted.flags & DOVETAIL_LEADING) != 0 ||
      !internal_interop::misfit_parts::IsDevice(tensor.device.device_type, wanted.device_type) ||
      !FitsType(tensor, wanted, call) ||
      (tensor.ndim != wanted.ndim &&
       (wanted.shape != nullptr || wanted.strides != nullptr || (flags & DOVETAIL_NDIM) != 0))) {
    return false;
  }
  return FitsRest(borrowed, wanted, flags, 0, call);
}

// The same for DOVETAIL_LEADING, and false without it.
bool FitsLast(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
              DovetailCall* call);

// The first requirement that the tensor does not meet. Adds the tensor's named sizes to `call`; a
// size that does not go with its name is a Want::kSize whose wanted value is the name. Its axis is
// -1 for leading dimensions. Any thread.
Misfit FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                    DovetailCall* call);

// The name in an entry of wanted.shape, such as "n".
std::string SizeName(const DovetailRequirements& wanted, int32_t entry);

// The type that an argument of a wrong type should have had: that of the call's other arguments
// with this type name if there are any, else the first one that is wanted.
DLDataType TypeToPass(const DovetailRequirements& wanted, const DovetailCall& call);

// "add(): argument 2: ", as far as the call knows these. `call` names the argument at hand.
std::string ArgumentPrefix(const DovetailCall& call);

// Sets the error: which argument, what it is, what it must be, and how to convert it. `misfit` is
// that of FindMismatch(). Needs the GIL.
void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_MISMATCH_H_
