// Whether a borrowed tensor meets what a parameter requires (borrowed.h). C++17, without Python:
// the package asks it, and so do kernel libraries that are called without the package.
//
//   if (Fits(borrowed, wanted, &call) || FitsLast(borrowed, wanted, &call)) return 0;
//   misfit = FindMismatch(borrowed, wanted, &call);        // complaint.h says it in words
//
// Any thread.

#ifndef DOVETAIL_PYTHON_FIT_FITS_H_
#define DOVETAIL_PYTHON_FIT_FITS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/requirements.h"
#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_fit {

using internal_interop::Misfit;
using internal_interop::Offer;
using internal_interop::Requirements;
using internal_interop::Want;

// The number of the name alone in an entry of a required shape, and how many times the named size
// is wanted (borrowed.h).
inline constexpr int64_t kNameBits = (int64_t{1} << 56) - 1;
constexpr int64_t NameIn(int64_t wanted) { return -1 - ((-1 - wanted) & kNameBits); }
constexpr int64_t MultipleIn(int64_t wanted) { return ((-1 - wanted) >> 56) + 1; }

// The index of the entry of that name; `count` if there is none.
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

bool FitsNamedSize(int64_t size, int64_t name, DovetailCall* call);

// FitsNamedSize() for a size that is several times a named one.
[[gnu::noinline]] inline bool FitsMultiple(int64_t size, int64_t wanted, DovetailCall* call) {
  const int64_t name = NameIn(wanted), multiple = MultipleIn(wanted);
  const int32_t known = FindNamedSize(*call, name);
  if (known < call->num_sizes) {
    int64_t product;
    return !__builtin_mul_overflow(multiple, call->sizes[known].size, &product) && size == product;
  }
  return size % multiple == 0 && FitsNamedSize(size / multiple, name, call);
}

// Whether a size is the one that `call` knows by this name. A new name is added to `call`, if it
// has room.
inline bool FitsNamedSize(int64_t size, int64_t name, DovetailCall* call) {
  if (__builtin_expect(name < -1 - kNameBits, 0)) return FitsMultiple(size, name, call);
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

// A type as a number; 0 for none.
inline uint32_t TypeNumber(DLDataType dtype) {
  static_assert(sizeof(dtype) == sizeof(uint32_t));
  if (dtype.bits == 0) return 0;
  uint32_t number;
  std::memcpy(&number, &dtype, sizeof(number));
  return number;
}
inline bool IsSameType(DLDataType a, DLDataType b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

inline uintptr_t AddressOf(const DLTensor& tensor) {
  return reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
}

// Whether the type is one of wanted.types, for DOVETAIL_ONE_OF.
inline bool IsOneOf(DLDataType dtype, const DovetailRequirements& wanted) {
  int32_t i = 0;
  while (i < wanted.num_types && !IsSameType(wanted.types[i], dtype)) ++i;
  return i < wanted.num_types;
}

// The alignment of element 0, in bytes.
[[gnu::always_inline]] inline uint32_t AlignmentFor(DLDataType dtype,
                                                    const DovetailRequirements& wanted) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return wanted.alignment;
  const uint32_t bytes = (uint32_t{dtype.bits} * dtype.lanes) >> (dtype.code == kDLComplex ? 4 : 3);
  return bytes > wanted.alignment && (bytes & (bytes - 1)) == 0 ? bytes : wanted.alignment;
}

// Whether the type is the one that `call` knows by this name. A new name is added.
[[gnu::always_inline]] inline bool FitsNamedType(DLDataType dtype, int64_t name,
                                                 DovetailCall* call) {
  if (name == 0) return true;
  const int32_t known = FindNamedType(*call, name);
  if (known < call->num_types) return IsSameType(call->types[known].dtype, dtype);
  if (call->num_types == DOVETAIL_MAX_NAMED_TYPES) return false;
  call->types[call->num_types++] = {name, dtype, call->position};
  return true;
}

// Whether the type is one of wanted.types, the one that `call` knows by wanted.type_name, and the
// memory aligned to it.
[[gnu::noinline]] inline bool FitsTypes(const DLTensor& tensor, const DovetailRequirements& wanted,
                                        DovetailCall* call) {
  return IsOneOf(tensor.dtype, wanted) &&
         internal_interop::misfit_parts::IsAligned(AddressOf(tensor),
                                                   AlignmentFor(tensor.dtype, wanted)) &&
         FitsNamedType(tensor.dtype, wanted.type_name, call);
}

// Whether the type is the wanted one, or one of those.
[[gnu::always_inline]] inline bool FitsType(const DLTensor& tensor,
                                            const DovetailRequirements& wanted,
                                            DovetailCall* call) {
  if (IsSameType(tensor.dtype, wanted.dtype)) return true;
  return wanted.dtype.bits == 0 &&
         ((wanted.flags & DOVETAIL_ONE_OF) == 0 || FitsTypes(tensor, wanted, call));
}

// What an Offer has of dimensions, from dimension `first` on.
[[gnu::always_inline]] inline Offer DimensionsOf(const DLTensor& tensor, int32_t first) {
  Offer offer;
  offer.rank = tensor.ndim - first;
  offer.shape = tensor.shape + first;
  offer.strides = tensor.strides + first;
  return offer;
}

// What Fits() and FitsLast() have in common: sizes, access, strides and alignment. `flags` is
// FlagsOf(wanted); wanted.shape begins with dimension `first`.
[[gnu::always_inline]] inline bool FitsRest(const DovetailBorrowed& borrowed,
                                            const DovetailRequirements& wanted, uint32_t flags,
                                            int32_t first, DovetailCall* call) {
  namespace parts = internal_interop::misfit_parts;
  const DLTensor& tensor = borrowed.tensor;
  const Offer offer = DimensionsOf(tensor, 0), last = DimensionsOf(tensor, first);
  const auto fits_name = [&](int32_t axis) {
    return FitsNamedSize(last.shape[axis], wanted.shape[axis], call);
  };
  Requirements sizes, strides;
  sizes.shape = wanted.shape;
  strides.strides = wanted.strides;
  strides.flags = flags;
  if (!parts::FindWrongSize(last, sizes, fits_name).fits() ||
      ((flags & DOVETAIL_WRITABLE) != 0 && (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) ||
      !parts::FindWrongStride(offer, strides).fits()) {
    return false;
  }
  return parts::IsAligned(AddressOf(tensor), wanted.alignment) || parts::IsEmpty(offer);
}

// Whether the tensor meets the requirements: FindMismatch(...).fits() by the parts of FindMisfit(),
// so that each loads what it looks at and no more. False without a look for DOVETAIL_LEADING. Adds
// the tensor's named sizes and type to `call`.
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

// Whether the first `ndim` sizes are those that `call` knows by this name. A new name is added.
inline bool FitsNamedLead(const int64_t* shape, int32_t ndim, int64_t name, DovetailCall* call) {
  if (name == 0) return true;
  const int32_t index = FindNamedLead(*call, name);
  if (index < call->num_leads) {
    const auto& known = call->leads[index];
    return known.ndim == ndim &&
           std::memcmp(shape, known.shape, sizeof(*shape) * static_cast<size_t>(ndim)) == 0;
  }
  if (call->num_leads == DOVETAIL_MAX_NAMED_LEADS) return false;
  call->leads[call->num_leads++] = {name, shape, ndim, call->position};
  return true;
}

// Fits() for DOVETAIL_LEADING, and false without it.
[[gnu::noinline]] inline bool FitsLast(const DovetailBorrowed& borrowed,
                                       const DovetailRequirements& wanted, DovetailCall* call) {
  const DLTensor& tensor = borrowed.tensor;
  const int32_t first = tensor.ndim - wanted.ndim;
  return (wanted.flags & DOVETAIL_LEADING) != 0 && first >= 0 &&
         internal_interop::misfit_parts::IsDevice(tensor.device.device_type, wanted.device_type) &&
         FitsType(tensor, wanted, call) &&
         FitsNamedLead(tensor.shape, first, wanted.leading_name, call) &&
         FitsRest(borrowed, wanted, FlagsOf(wanted), first, call);
}

// Fits() or FitsLast(), of requirements that the compiler knows, for argument `position` of a call
// without objects of Python.
template <const DovetailRequirements& kWanted>
[[gnu::always_inline]] inline bool FitsPlain(int32_t position, DovetailCall* call,
                                             DovetailBorrowed* borrowed) {
  borrowed->object = nullptr;
  call->position = position;
  if constexpr ((kWanted.flags & DOVETAIL_LEADING) != 0) {
    return FitsLast(*borrowed, kWanted, call);
  } else {
    return Fits(*borrowed, kWanted, call);
  }
}

// For DOVETAIL_LEADING: the rank and the sizes.
inline Misfit FindWrongLast(const DLTensor& tensor, const DovetailRequirements& wanted,
                            DovetailCall* call) {
  const int32_t lead = tensor.ndim - wanted.ndim;
  if (lead < 0) return {Want::kRank, -1, tensor.ndim, wanted.ndim};
  const Offer last = DimensionsOf(tensor, lead);
  Requirements sizes;
  sizes.shape = wanted.shape;
  Misfit misfit = internal_interop::misfit_parts::FindWrongSize(last, sizes, [&](int32_t axis) {
    return FitsNamedSize(last.shape[axis], wanted.shape[axis], call);
  });
  if (!misfit.fits()) {
    misfit.axis += lead;
    return misfit;
  }
  if (FitsNamedLead(tensor.shape, lead, wanted.leading_name, call)) return {};
  return {Want::kSize, -1, 0, wanted.leading_name};
}

// The first requirement that the tensor does not meet. Adds the tensor's named sizes to `call`; a
// size that does not go with its name is a Want::kSize whose wanted value is the name. Its axis is
// -1 for leading dimensions.
[[gnu::noinline]] inline Misfit FindMismatch(const DovetailBorrowed& borrowed,
                                             const DovetailRequirements& wanted,
                                             DovetailCall* call) {
  namespace in = internal_interop;
  static_assert(in::kHostMemory == DOVETAIL_HOST_MEMORY && in::kAnyDevice == DOVETAIL_ANY_DEVICE);
  static_assert(in::kAnySize == DOVETAIL_ANY_SIZE && in::kAnyStride == DOVETAIL_ANY_STRIDE);
  static_assert(uint32_t{in::kWantRank} == DOVETAIL_NDIM &&
                uint32_t{in::kWantWritable} == DOVETAIL_WRITABLE &&
                uint32_t{in::kWantRowMajor} == DOVETAIL_C_CONTIGUOUS &&
                uint32_t{in::kWantColumnMajor} == DOVETAIL_F_CONTIGUOUS &&
                uint32_t{in::kWantInnerDense} == DOVETAIL_INNER_CONTIGUOUS);
  const DLTensor& tensor = borrowed.tensor;
  Offer offer = DimensionsOf(tensor, 0);
  offer.type = TypeNumber(tensor.dtype);
  offer.device = tensor.device.device_type;
  offer.address = AddressOf(tensor);
  offer.is_read_only = (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0;
  Requirements first, want;
  first.device = wanted.device_type;
  first.type = TypeNumber(wanted.dtype);
  Misfit misfit = FindMisfit(offer, first);
  if (!misfit.fits()) return misfit;
  if ((wanted.flags & DOVETAIL_ONE_OF) != 0 &&
      !(IsOneOf(tensor.dtype, wanted) && FitsNamedType(tensor.dtype, wanted.type_name, call))) {
    return {Want::kType, -1, offer.type, 0};
  }
  want.alignment = AlignmentFor(tensor.dtype, wanted);
  want.flags = FlagsOf(wanted);
  if ((wanted.flags & DOVETAIL_LEADING) != 0) {
    misfit = FindWrongLast(tensor, wanted, call);
    if (!misfit.fits()) return misfit;
    want.flags &= ~uint32_t{in::kWantRank};
  } else {
    want.rank = wanted.ndim;
    want.shape = wanted.shape;
    want.strides = wanted.strides;
  }
  return FindMisfit(offer, want, [&](int32_t axis) {
    return FitsNamedSize(tensor.shape[axis], wanted.shape[axis], call);
  });
}

// The type to pass in place of a wrong one. Arguments with one type name have one type: where the
// call has it already, that one; else the first that is wanted.
inline DLDataType TypeToPass(const DovetailRequirements& wanted, const DovetailCall& call) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return wanted.dtype;
  const int32_t others = FindNamedType(call, wanted.type_name);
  if (others < call.num_types) return call.types[others].dtype;
  return wanted.num_types > 0 ? wanted.types[0] : DLDataType{};
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_FITS_H_
