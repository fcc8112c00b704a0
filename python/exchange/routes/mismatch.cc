#include "dovetail/python/exchange/routes/mismatch.h"

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

Requirements RequirementsOf(const DovetailRequirements& wanted) {
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
          .alignment = wanted.alignment,
          .flags = FlagsOf(wanted)};
}

}  // namespace

Misfit FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                    DovetailCall* call) {
  return FindMisfit(OfferOf(borrowed), RequirementsOf(wanted), [&](int32_t axis) {
    return FitsNamedSize(borrowed.tensor.shape[axis], wanted.shape[axis], call);
  });
}

}  // namespace dovetail::python
