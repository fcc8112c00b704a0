#include "dovetail/python/exchange/routes/mismatch.h"

#include <algorithm>
#include <bit>

#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/requirements.h"

namespace dovetail::python {
namespace {

using internal_interop::Offer;
using internal_interop::Requirements;

// A type as a number; 0 for none.
uint32_t TypeNumber(DLDataType dtype) {
  return dtype.bits == 0 ? 0 : std::bit_cast<uint32_t>(dtype);
}

Offer OfferOf(const DovetailBorrowed& borrowed) {
  const DLTensor& tensor = borrowed.tensor;
  return {.rank = tensor.ndim,
          .shape = tensor.shape,
          .strides = tensor.strides,
          .type = TypeNumber(tensor.dtype),
          .device = tensor.device.device_type,
          .address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset,
          .is_read_only = (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0};
}

// The alignment of element 0, in bytes.
[[gnu::always_inline]] inline uint32_t AlignmentFor(DLDataType dtype,
                                                    const DovetailRequirements& wanted) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return wanted.alignment;
  const uint32_t bytes = (uint32_t{dtype.bits} * dtype.lanes) >> (dtype.code == kDLComplex ? 4 : 3);
  return bytes > wanted.alignment && (bytes & (bytes - 1)) == 0 ? bytes : wanted.alignment;
}

// For a tensor of that type.
Requirements RequirementsOf(const DovetailRequirements& wanted, DLDataType dtype) {
  namespace in = internal_interop;
  static_assert(in::kHostMemory == DOVETAIL_HOST_MEMORY && in::kAnyDevice == DOVETAIL_ANY_DEVICE);
  static_assert(in::kAnySize == DOVETAIL_ANY_SIZE && in::kAnyStride == DOVETAIL_ANY_STRIDE);
  static_assert(uint32_t{in::kWantRank} == DOVETAIL_NDIM &&
                uint32_t{in::kWantWritable} == DOVETAIL_WRITABLE &&
                uint32_t{in::kWantRowMajor} == DOVETAIL_C_CONTIGUOUS &&
                uint32_t{in::kWantColumnMajor} == DOVETAIL_F_CONTIGUOUS &&
                uint32_t{in::kWantInnerDense} == DOVETAIL_INNER_CONTIGUOUS);
  return {.device = wanted.device_type,
          .type = TypeNumber(wanted.dtype),
          .rank = wanted.ndim,
          .shape = wanted.shape,
          .strides = wanted.strides,
          .alignment = AlignmentFor(dtype, wanted),
          .flags = FlagsOf(wanted)};
}

// Whether the type is the one that `call` knows by this name. A new name is added.
[[gnu::always_inline]] inline bool FitsNamedType(DLDataType dtype, int64_t name,
                                                 DovetailCall* call) {
  if (name == 0) return true;
  const int32_t known = FindNamedType(*call, name);
  if (known < call->num_types) return TypeNumber(call->types[known].dtype) == TypeNumber(dtype);
  if (call->num_types == DOVETAIL_MAX_NAMED_TYPES) return false;
  call->types[call->num_types++] = {name, dtype, call->position};
  return true;
}

// Whether the first `ndim` sizes are those that `call` knows by this name. A new name is added.
bool FitsNamedLead(const int64_t* shape, int32_t ndim, int64_t name, DovetailCall* call) {
  if (name == 0) return true;
  const int32_t index = FindNamedLead(*call, name);
  if (index < call->num_leads) {
    const auto& known = call->leads[index];
    return known.ndim == ndim && std::equal(shape, shape + ndim, known.shape);
  }
  if (call->num_leads == DOVETAIL_MAX_NAMED_LEADS) return false;
  call->leads[call->num_leads++] = {name, shape, ndim, call->position};
  return true;
}

// For DOVETAIL_LEADING: the rank and the sizes.
Misfit FindWrongLast(const Offer& offer, const DovetailRequirements& wanted, DovetailCall* call) {
  const int32_t lead = offer.rank - wanted.ndim;
  if (lead < 0) return {Want::kRank, -1, offer.rank, wanted.ndim};
  const Offer last = {.rank = wanted.ndim, .shape = offer.shape + lead};
  Misfit misfit = internal_interop::misfit_parts::FindWrongSize(
      last, {.shape = wanted.shape},
      [&](int32_t axis) { return FitsNamedSize(last.shape[axis], wanted.shape[axis], call); });
  if (!misfit.fits()) {
    misfit.axis += lead;
    return misfit;
  }
  if (FitsNamedLead(offer.shape, lead, wanted.leading_name, call)) return {};
  return {Want::kSize, -1, 0, wanted.leading_name};
}

}  // namespace

bool FitsMultiple(int64_t size, int64_t wanted, DovetailCall* call) {
  const int64_t name = NameIn(wanted), multiple = MultipleIn(wanted);
  const int32_t known = FindNamedSize(*call, name);
  if (known < call->num_sizes) {
    int64_t product;
    return !__builtin_mul_overflow(multiple, call->sizes[known].size, &product) && size == product;
  }
  return size % multiple == 0 && FitsNamedSize(size / multiple, name, call);
}

bool FitsTypes(const DLTensor& tensor, const DovetailRequirements& wanted, DovetailCall* call) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset;
  return IsOneOf(tensor.dtype, wanted) &&
         internal_interop::misfit_parts::IsAligned(address, AlignmentFor(tensor.dtype, wanted)) &&
         FitsNamedType(tensor.dtype, wanted.type_name, call);
}

bool FitsLast(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
              DovetailCall* call) {
  const DLTensor& tensor = borrowed.tensor;
  const int32_t first = tensor.ndim - wanted.ndim;
  return (wanted.flags & DOVETAIL_LEADING) != 0 && first >= 0 &&
         internal_interop::misfit_parts::IsDevice(tensor.device.device_type, wanted.device_type) &&
         FitsType(tensor, wanted, call) &&
         FitsNamedLead(tensor.shape, first, wanted.leading_name, call) &&
         FitsRest(borrowed, wanted, FlagsOf(wanted), first, call);
}

Misfit FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                    DovetailCall* call) {
  const Offer offer = OfferOf(borrowed);
  Requirements want = RequirementsOf(wanted, borrowed.tensor.dtype);
  Misfit misfit = FindMisfit(offer, {.device = want.device, .type = want.type});
  if (!misfit.fits()) return misfit;
  if ((wanted.flags & DOVETAIL_ONE_OF) != 0 &&
      !(IsOneOf(borrowed.tensor.dtype, wanted) &&
        FitsNamedType(borrowed.tensor.dtype, wanted.type_name, call))) {
    return {Want::kType, -1, offer.type, 0};
  }
  if ((wanted.flags & DOVETAIL_LEADING) != 0) {
    misfit = FindWrongLast(offer, wanted, call);
    if (!misfit.fits()) return misfit;
    want.rank = 0;
    want.shape = nullptr;
    want.strides = nullptr;
    want.flags &= ~uint32_t{internal_interop::kWantRank};
  }
  return FindMisfit(offer, want, [&](int32_t axis) {
    return FitsNamedSize(borrowed.tensor.shape[axis], wanted.shape[axis], call);
  });
}

}  // namespace dovetail::python
