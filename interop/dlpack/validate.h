// Performs every check of a DLPack import. Owns nothing and changes nothing.
//
//   CheckedTensor checked;
//   Layout layout;
//   const Defect defect = FindDefect(managed->dl_tensor, managed->flags, &checked, &layout);
//   if (defect != Defect::kNone) return DefectError(defect, managed->dl_tensor, managed->flags);
//
// The rules are those of dlpack.h 1.3: number of dimensions, sizes, strides (NULL: row-major), type
// code and bits, flags, data. Every exchange runs FindDefect; only failures run DefectError, which
// composes the message. All errors are InvalidArgument.

#ifndef DOVETAIL_INTEROP_DLPACK_VALIDATE_H_
#define DOVETAIL_INTEROP_DLPACK_VALIDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The fields of a valid DLTensor, apart from its layout.
struct CheckedTensor {
  Device device;
  DType dtype;
  Tensor::Options options;
  // The lowest byte that the strides reach (or the opaque handle), the number of bytes from there
  // to the highest, and the offset of element 0.
  void* data = nullptr;
  size_t nbytes = 0;
  int64_t byte_offset = 0;
};

// The flags that this version understands. An unknown flag may change the layout, so it is refused.
inline constexpr uint64_t kKnownFlags = DLPACK_FLAG_BITMASK_READ_ONLY |
                                        DLPACK_FLAG_BITMASK_IS_COPIED |
                                        DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;

// What can be wrong with a DLTensor and its flags.
enum class Defect { kNone, kFlags, kType, kDevice, kShape, kBytes, kHandleOffset, kNull, kAddress };

// The error for a defect: InvalidArgument, or OK for kNone.
[[gnu::cold]] absl::Status DefectError(Defect defect, const DLTensor& tensor, uint64_t flags);

namespace internal_dlpack {

[[gnu::cold]] absl::Status VersionError(const DLPackVersion& version);

constexpr Tensor::Options OptionsOf(uint64_t flags) {
  return {.access = flags & DLPACK_FLAG_BITMASK_READ_ONLY ? Access::kReadOnly : Access::kReadWrite,
          .packing = flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED ? Packing::kPadded
                                                                        : Packing::kPacked};
}

// Assigns the layout. Returns the number of elements, or -1 for an invalid shape or strides.
[[gnu::always_inline]] inline int64_t TakeDims(const DLTensor& t, Layout* layout, Extent* extent) {
  if (layout == nullptr) return internal_layout::Measure(t.ndim, t.shape, t.strides, extent);
  return internal_layout::TryAssign(layout, t.ndim, t.shape, t.strides, extent)
             ? layout->num_elements()
             : -1;
}

// A tensor that TakePlain() takes. Its first byte is element 0.
struct PlainTensor {
  DType dtype;
  uintptr_t first;
  uint64_t nbytes;
};

// Fast branch of FindDefect() for nearly all tensors: host memory, whole-byte elements, explicit
// non-negative strides. `take_dims(&extent)` takes shape and strides that WalkPlain() does, or is
// false. False for all other tensors, on which FindDefect() decides.
template <typename TakeDims>
[[gnu::always_inline]] inline bool TakePlain(const DLTensor& t, uint64_t flags, TakeDims take_dims,
                                             PlainTensor* out) {
  const DType dtype = ToDType(t.dtype);
  const auto bits = static_cast<uint32_t>(dtype.element_bits());
  if ((flags & ~uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY}) != 0 || bits % 8 != 0 ||
      !dtype.is_known() || t.device.device_type != kDLCPU || t.device.device_id < 0 ||
      t.data == nullptr || t.shape == nullptr || t.strides == nullptr) [[unlikely]] {
    return false;
  }
  Extent extent;
  if (!take_dims(&extent)) [[unlikely]]
    return false;
  constexpr int64_t kFar = int64_t{1} << 36;  // kFar * itemsize fits in 64 bits
  const uint64_t nbytes = (static_cast<uint64_t>(extent.highest) + 1) * (bits / 8);
  uintptr_t first, end;
  if (extent.highest >= kFar ||
      __builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &first) ||
      __builtin_add_overflow(first, nbytes, &end)) [[unlikely]] {
    return false;
  }
  *out = {dtype, first, nbytes};
  return true;
}

}  // namespace internal_dlpack

// If there is no defect, fills in `checked` and `layout`. `layout` may be nullptr. Inline, because
// some exchange paths consist of little else.
[[gnu::always_inline]] inline Defect FindDefect(const DLTensor& t, uint64_t flags,
                                                CheckedTensor* out, Layout* layout) {
  if ((flags & ~kKnownFlags) != 0) [[unlikely]]
    return Defect::kFlags;
  const DType dtype = ToDType(t.dtype);
  if (!dtype.is_known()) [[unlikely]]
    return Defect::kType;
  if (t.device.device_id < 0) [[unlikely]]
    return Defect::kDevice;
  Extent extent;
  if (t.ndim > 0 && t.shape == nullptr) [[unlikely]]
    return Defect::kShape;
  const int64_t count = internal_dlpack::TakeDims(t, layout, &extent);
  if (count < 0) [[unlikely]]
    return Defect::kShape;
  // Filled in after the call above, so that fewer values stay live across it.
  out->device = ToDevice(t.device);
  out->dtype = dtype;
  out->options = internal_dlpack::OptionsOf(flags);
  const bool empty = count == 0;
  ByteRange range;
  if (!empty && !BytesOfExtent(extent, dtype, out->options.packing, &range)) [[unlikely]] {
    return Defect::kBytes;
  }
  out->data = t.data;
  out->nbytes = static_cast<size_t>(range.size());
  out->byte_offset = 0;
  if (empty) [[unlikely]]
    return Defect::kNone;  // no elements: data and offset are never used
  // (The CPU is tested first, because most tensors are there.)
  if (out->device.type != DeviceType::kCpu && !IsAddressable(out->device.type)) [[unlikely]] {
    // An opaque handle allows no pointer arithmetic: the offset stays separate.
    int64_t begin, end;
    const bool too_far = __builtin_add_overflow(t.byte_offset, 0, &out->byte_offset) ||
                         __builtin_add_overflow(out->byte_offset, range.begin, &begin) ||
                         __builtin_add_overflow(out->byte_offset, range.end, &end);
    return too_far ? Defect::kHandleOffset : Defect::kNone;
  }
  if (t.data == nullptr) [[unlikely]]
    return Defect::kNull;
  const auto below = -static_cast<uint64_t>(range.begin), above = static_cast<uint64_t>(range.end);
  uintptr_t origin, end;  // the address of element 0; the end of all elements
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &origin) ||
      origin < below || __builtin_add_overflow(origin, above, &end)) [[unlikely]] {
    return Defect::kAddress;
  }
  out->data = reinterpret_cast<void*>(origin - below);
  out->byte_offset = static_cast<int64_t>(below);
  return Defect::kNone;
}

// The checks alone, for failures: InvalidArgument with the reason.
[[gnu::cold]] absl::Status Validate(const DLTensor& tensor, uint64_t flags);

// False for another major version: only the version and the deleter may then be read.
inline bool IsReadable(const DLPackVersion& version) {
  return version.major == DLPACK_MAJOR_VERSION;
}
inline absl::Status ValidateVersion(const DLPackVersion& version) {
  return IsReadable(version) ? absl::OkStatus() : internal_dlpack::VersionError(version);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_VALIDATE_H_
