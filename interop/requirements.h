// What a receiver wants of a tensor, and what it is offered, as data: for doors to containers, for
// arguments of extensions, and for the memory that Python libraries accept. C++17, and no library
// but <cstdint>.
//
//   Requirements want;
//   want.rank = 2;
//   want.flags = kWantRank | kWantRowMajor;
//
// find_misfit.h compares the two. offer.h makes the Offer of a Tensor.

#ifndef DOVETAIL_INTEROP_REQUIREMENTS_H_
#define DOVETAIL_INTEROP_REQUIREMENTS_H_

#include <cstdint>

#include "dovetail/core/freestanding/abi.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// The tensor that is asked. The pointers are borrowed for the call. Shape and strides are those of
// a valid layout (core/freestanding/extent.h): no size is negative, and no offset overflows.
struct Offer {
  int32_t rank = 0;                  // at most 64
  const int64_t* shape = nullptr;    // `rank` entries
  const int64_t* strides = nullptr;  // `rank` entries, in elements
  uint32_t type = 0;                 // of an element, as a number that the caller chooses; not 0
  int32_t device = 0;                // a code of device_list.inc, or one that it lacks
  uintptr_t address = 0;             // of element 0
  bool is_read_only = false;
};

// Values of Requirements.device besides codes.
constexpr int32_t kHostMemory = 0;  // whatever the CPU can read and write
constexpr int32_t kAnyDevice = -1;

constexpr int64_t kAnySize = -1;
constexpr int64_t kAnyStride = INT64_MIN;
constexpr int64_t kAnyIndex = INT64_MAX;

// Bits of Requirements.flags. The strides of dimensions of one element count only where that is
// said, and those of a tensor without elements only for kWantNested and kWantIndexedMemory. The
// first five have the numbers of capi.h.
enum : uint32_t {
  kWantRank = 1,           // `rank`; also wanted wherever a shape or strides are
  kWantWritable = 2,       // no read-only memory
  kWantRowMajor = 4,       // without gaps
  kWantColumnMajor = 8,    // without gaps
  kWantInnerDense = 16,    // the last dimension has stride 1
  kWantNonNegative = 256,  // strides, also those of one element
  // What layout_stride of mdspan asks for: all strides are positive, and sorted by size each steps
  // over all elements of the dimension before it. Every stride counts.
  kWantNested = 512,
  // `max_index` also holds for every stride, and for the number of elements that the strides span.
  kWantIndexedMemory = 1024,
  kWantNoRepeats = 2048,  // no stride of 0 over several elements, but where `strides` wants it
};

// What a receiver wants. By default nothing: any tensor fits.
struct Requirements {
  int32_t device = kAnyDevice;  // a code of device_list.inc, kHostMemory or kAnyDevice
  uint32_t type = 0;            // as in Offer; 0: any
  int32_t rank = 0;
  const int64_t* shape = nullptr;      // `rank` entries; negative: any size. nullptr: any
  const int64_t* max_shape = nullptr;  // the same for the largest sizes
  const int64_t* strides = nullptr;    // `rank` entries, in elements or kAnyStride. nullptr: any
  int64_t max_index = kAnyIndex;       // of sizes and the number of elements
  uint32_t alignment = 0;              // of element 0, in bytes: a power of two; 0: any
  uint32_t flags = 0;
};

// The largest value of an index type, for Requirements.max_index.
template <typename Index>
constexpr int64_t MaxIndexOf() {
  constexpr bool kIsSigned = static_cast<Index>(-1) < static_cast<Index>(0);
  constexpr int kBits = 8 * sizeof(Index) - (kIsSigned ? 1 : 0);
  return kBits >= 63 ? kAnyIndex : (int64_t{1} << (kBits % 63)) - 1;
}

// What a tensor may fail, in the order in which it is asked.
enum class Want : uint8_t {
  kNone,
  kDevice,
  kType,
  kRank,
  kSize,
  kIndex,
  kAccess,
  kSign,  // of a stride: negative, or 0 where only positive ones are wanted
  kRepeats,
  kRowMajor,
  kColumnMajor,
  kInnerDense,
  kNested,
  kStride,
  kAlignment,
};

// The first want that fails.
struct Misfit {
  constexpr bool fits() const { return want == Want::kNone; }

  Want want = Want::kNone;
  int32_t axis = -1;   // the dimension that fails; -1 if it is no single one
  int64_t found = 0;   // of wants with a number: the offered size, stride, rank, …
  int64_t wanted = 0;  // and the wanted one; for max_shape and max_index the largest
};

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_REQUIREMENTS_H_
