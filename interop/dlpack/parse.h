// THE check of a DLTensor from outside. Every door that is given one asks it: imports, arguments of
// extensions, views, exchange APIs. C++17, and no library but dlpack.h.
//
//   ParsedTensor parsed;
//   const Defect defect = Parse(tensor, flags, NoDims(), &parsed);
//   if (defect != Defect::kNone) return Refuse(defect);
//
// The rules are those of dlpack.h 1.3: number of dimensions, sizes, strides (NULL: row-major), type
// code and bits, flags, data. Parse owns nothing and changes nothing but what it is given to fill.
// validate.h turns the answer into the types of core, and a defect into an error.

#ifndef DOVETAIL_INTEROP_DLPACK_PARSE_H_
#define DOVETAIL_INTEROP_DLPACK_PARSE_H_

#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/core/freestanding/abi.h"
#include "dovetail/core/freestanding/extent.h"
#include "dovetail/core/freestanding/type_widths.h"
#include "dovetail/core/freestanding/walk.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// What can be wrong with a DLTensor and its flags.
enum class Defect { kNone, kFlags, kType, kDevice, kShape, kBytes, kHandleOffset, kNull, kAddress };

// The flags that this version understands. An unknown flag may change the layout, so it is refused.
constexpr uint64_t kKnownFlags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED |
                                 DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;

// A valid DLTensor, apart from its shape and strides.
struct ParsedTensor {
  DLDevice device = {};     // the id is 0 where it distinguishes nothing, as in host memory
  DLDataType dtype = {};    // a type of core/internal/dtype_list.inc
  void* data = nullptr;     // the lowest byte that the strides reach, or the opaque handle
  uint64_t nbytes = 0;      // from there to the highest
  int64_t byte_offset = 0;  // of element 0 from `data`
};

// Where Parse writes shape and strides: a class with these members, or NoDims to drop them.
//   bool Begin(int32_t rank, int64_t** shape, int64_t** strides);  // room for `rank` numbers each
//   void Finish(int32_t rank, int64_t num_elements);               // they make a layout
//   void Abandon(int32_t rank);                                    // they make none
struct NoDims {
  static constexpr bool kKeeps = false;
  void Begin(int32_t, int64_t**, int64_t**) {}
  void Finish(int32_t, int64_t) {}
  void Abandon(int32_t) {}
};

namespace internal_dlpack {

constexpr int32_t kMaxRank = 64;  // Layout::kMaxRank

// IsAddressable() and IsIndexed() of core/device.h.
struct DeviceFacts {
  bool addressable;
  bool indexed;
};
constexpr DeviceFacts FactsOf(int32_t device_type) {
  switch (device_type) {
#define DOVETAIL_DEVICE_TYPE(id, code, name, host, addressable, indexed) \
  case code:                                                             \
    return {addressable, indexed};
#include "dovetail/core/internal/device_list.inc"
#undef DOVETAIL_DEVICE_TYPE
    default:
      return {false, true};
  }
}

constexpr bool IsPadded(uint64_t flags) {
  return (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
}

// Shape and strides to `dims`, and what they reach. The number of elements, or -1.
template <typename Dims>
int64_t TakeDims(const DLTensor& t, Dims& dims, Extent* extent) {
  if (t.ndim < 0 || t.ndim > kMaxRank || (t.ndim > 0 && t.shape == nullptr)) return -1;
  int64_t *shape = nullptr, *strides = nullptr;
  dims.Begin(t.ndim, &shape, &strides);
  const int64_t count = internal_layout::Walk(t.ndim, t.shape, t.strides, shape, strides, extent);
  if (count < 0) {
    dims.Abandon(t.ndim);
  } else {
    dims.Finish(t.ndim, count);
  }
  return count;
}

// Parse for every tensor.
template <typename Dims>
[[gnu::noinline]] Defect ParseAny(const DLTensor& t, uint64_t flags, Dims dims, ParsedTensor* out) {
  if ((flags & ~kKnownFlags) != 0) return Defect::kFlags;
  out->dtype = t.dtype;
  if (!internal_dtype::IsKnownType(t.dtype.code, t.dtype.bits, t.dtype.lanes)) return Defect::kType;
  if (t.device.device_id < 0) return Defect::kDevice;
  const DeviceFacts facts = FactsOf(t.device.device_type);
  out->device = {t.device.device_type, facts.indexed ? t.device.device_id : 0};
  Extent extent;
  const int64_t count = TakeDims(t, dims, &extent);
  if (count < 0) return Defect::kShape;
  out->data = t.data;
  out->nbytes = 0;
  out->byte_offset = 0;
  if (count == 0) return Defect::kNone;  // no elements: data and offset are never used
  const int64_t step_bits =
      internal_layout::StepBits(int64_t{t.dtype.bits} * t.dtype.lanes, IsPadded(flags));
  ByteRange range;
  if (!internal_layout::BytesOfExtent(extent, step_bits, &range)) {
    return Defect::kBytes;
  }
  out->nbytes = static_cast<uint64_t>(range.size());
  if (!facts.addressable) {
    // An opaque handle allows no pointer arithmetic: the offset stays separate.
    int64_t begin = 0, end = 0;
    const bool too_far = __builtin_add_overflow(t.byte_offset, 0, &out->byte_offset) ||
                         __builtin_add_overflow(out->byte_offset, range.begin, &begin) ||
                         __builtin_add_overflow(out->byte_offset, range.end, &end);
    return too_far ? Defect::kHandleOffset : Defect::kNone;
  }
  if (t.data == nullptr) return Defect::kNull;
  const auto below = -static_cast<uint64_t>(range.begin), above = static_cast<uint64_t>(range.end);
  uintptr_t origin = 0, end = 0;  // the address of element 0; the end of all elements
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &origin) ||
      origin < below || __builtin_add_overflow(origin, above, &end)) {
    return Defect::kAddress;
  }
  out->data = reinterpret_cast<void*>(origin - below);
  out->byte_offset = static_cast<int64_t>(below);
  return Defect::kNone;
}

template <typename Dims, typename Use>
[[gnu::noinline]] Defect ParseAnyThen(const DLTensor& t, uint64_t flags, Dims dims, Use use) {
  ParsedTensor parsed;
  const Defect defect = ParseAny(t, flags, dims, &parsed);
  if (defect == Defect::kNone) use(parsed);
  return defect;
}

// Parse for nearly all tensors: host memory, whole-byte elements, explicit non-negative strides.
// False for all others, on which ParseAny decides.
template <typename Dims>
[[gnu::always_inline]] inline bool ParsePlain(const DLTensor& t, uint64_t flags, Dims& dims,
                                              ParsedTensor* out) {
  const DLDataType dtype = t.dtype;
  const uint32_t bits = uint32_t{dtype.bits} * dtype.lanes;
  if (__builtin_expect((flags & ~uint64_t{DLPACK_FLAG_BITMASK_READ_ONLY}) != 0 || bits % 8 != 0 ||
                           !internal_dtype::IsKnownType(dtype.code, dtype.bits, dtype.lanes) ||
                           t.device.device_type != kDLCPU || t.device.device_id < 0 ||
                           t.data == nullptr || t.shape == nullptr || t.strides == nullptr ||
                           static_cast<uint32_t>(t.ndim) > internal_layout::kPlainRank,
                       0)) {
    return false;
  }
  Extent extent;
  int64_t *shape = nullptr, *strides = nullptr;
  dims.Begin(t.ndim, &shape, &strides);
  const int64_t count =
      internal_layout::WalkPlain<Dims::kKeeps>(t.ndim, t.shape, t.strides, shape, strides, &extent);
  constexpr int64_t kFar = int64_t{1} << 36;  // kFar * itemsize fits in 64 bits
  const uint64_t nbytes = (static_cast<uint64_t>(extent.highest) + 1) * (bits / 8);
  uintptr_t first = 0, end = 0;
  if (__builtin_expect(
          count < 0 || extent.highest >= kFar ||
              __builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &first) ||
              __builtin_add_overflow(first, nbytes, &end),
          0)) {
    return false;
  }
  dims.Finish(t.ndim, count);
  *out = {{kDLCPU, 0}, dtype, reinterpret_cast<void*>(first), nbytes, 0};
  return true;
}

}  // namespace internal_dlpack

// Parse for tensors that are row-major and say so by NULL strides, of whole bytes, with addresses:
// nearly all of XLA's. Writes their shape and strides. False for all others, on which Parse
// decides.
inline bool ParseRowMajor(const DLTensor& t, int64_t* shape, int64_t* strides) {
  const uint32_t bits = uint32_t{t.dtype.bits} * t.dtype.lanes;
  if (bits % 8 != 0 || t.byte_offset != 0 || t.data == nullptr || t.ndim < 0 ||
      t.ndim > internal_layout::kPlainRank ||
      !internal_dtype::IsKnownType(t.dtype.code, t.dtype.bits, t.dtype.lanes)) {
    return false;
  }
  uint64_t stride = 1;
  for (int32_t i = t.ndim; i-- > 0;) {
    const auto size = static_cast<uint64_t>(t.shape[i]);
    shape[i] = t.shape[i];
    strides[i] = static_cast<int64_t>(stride);
    if (size == 0 || (size | stride) >> 31 != 0) return false;  // else the product overflows not
    stride *= size;
  }
  uintptr_t end = 0;
  return !__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), stride * (bits / 8), &end);
}

// Calls `use(parsed)` if there is no defect, once `dims` (see NoDims; it is copied) is filled in.
// Else `dims` is unspecified. Each of the two branches has its own copy of `use`, so that the fast
// one works with constants; `use` should capture by value, or what it captures is kept in memory.
template <typename Dims, typename Use>
[[gnu::always_inline]] inline Defect Parse(const DLTensor& tensor, uint64_t flags, Dims dims,
                                           Use use) {
  ParsedTensor plain;
  if (__builtin_expect(internal_dlpack::ParsePlain(tensor, flags, dims, &plain), 1)) {
    use(plain);
    return Defect::kNone;
  }
  return internal_dlpack::ParseAnyThen(tensor, flags, dims, use);
}

// The same with the answer in `out`, which is unspecified if there is a defect.
template <typename Dims>
[[gnu::always_inline]] inline Defect Parse(const DLTensor& tensor, uint64_t flags, Dims dims,
                                           ParsedTensor* out) {
  if (__builtin_expect(internal_dlpack::ParsePlain(tensor, flags, dims, out), 1)) {
    return Defect::kNone;
  }
  ParsedTensor other;  // a local: *out can then stay in registers
  const Defect defect = internal_dlpack::ParseAny(tensor, flags, dims, &other);
  *out = other;
  return defect;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_PARSE_H_
