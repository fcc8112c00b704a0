// What Parse (parse.h) says of a DLTensor, in the types of core, and its defects as errors.
//
//   CheckedTensor checked;
//   Layout layout;
//   const Defect defect = FindDefect(managed->dl_tensor, managed->flags, &checked, &layout);
//   if (defect != Defect::kNone) return DefectError(defect, managed->dl_tensor, managed->flags);
//
// Every exchange runs FindDefect; only failures run DefectError, which composes the message. All
// errors are InvalidArgument.

#ifndef DOVETAIL_INTEROP_DLPACK_VALIDATE_H_
#define DOVETAIL_INTEROP_DLPACK_VALIDATE_H_

#include <cstddef>
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
#include "dovetail/interop/dlpack/parse.h"
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

// The error for a defect: InvalidArgument, or OK for kNone.
[[gnu::cold]] absl::Status DefectError(Defect defect, const DLTensor& tensor, uint64_t flags);

namespace internal_dlpack {

[[gnu::cold]] absl::Status VersionError(const DLPackVersion& version);

constexpr Tensor::Options OptionsOf(uint64_t flags) {
  return {.access = flags & DLPACK_FLAG_BITMASK_READ_ONLY ? Access::kReadOnly : Access::kReadWrite,
          .packing = flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED ? Packing::kPadded
                                                                        : Packing::kPacked};
}

// Writes shape and strides into a Layout.
struct LayoutDims {
  static constexpr bool kKeeps = true;
  Layout* layout;

  [[gnu::always_inline]] void Begin(int32_t rank, int64_t** shape, int64_t** strides) {
    *shape = internal_layout::LayoutAccess::Rep(layout).Begin(rank);
    *strides = *shape + rank;
  }
  [[gnu::always_inline]] void Finish(int32_t rank, int64_t num_elements) {
    internal_layout::LayoutAccess::Rep(layout).Finish(rank, num_elements);
  }
  void Abandon(int32_t rank) { internal_layout::LayoutAccess::Rep(layout).Abandon(rank); }
};
static_assert(kMaxRank == Layout::kMaxRank);

[[gnu::always_inline]] inline void TakeFields(const ParsedTensor& parsed, uint64_t flags,
                                              CheckedTensor* out) {
  out->device = ToDevice(parsed.device);
  out->dtype = ToDType(parsed.dtype);
  out->options = OptionsOf(flags);
  out->data = parsed.data;
  out->nbytes = parsed.nbytes;
  out->byte_offset = parsed.byte_offset;
}

}  // namespace internal_dlpack

// If there is no defect, fills in `checked` and `layout`. Inline, because some exchange paths
// consist of little else.
[[gnu::always_inline]] inline Defect FindDefect(const DLTensor& t, uint64_t flags,
                                                CheckedTensor* out, Layout* layout) {
  ParsedTensor parsed;
  const Defect defect = Parse(t, flags, internal_dlpack::LayoutDims{layout}, &parsed);
  internal_dlpack::TakeFields(parsed, flags, out);
  return defect;
}

// Calls `use(checked)` if there is no defect, once the layout is filled in; see Parse.
template <typename Use>
[[gnu::always_inline]] inline Defect FindDefect(const DLTensor& t, uint64_t flags, Layout* layout,
                                                Use use) {
  return Parse(t, flags, internal_dlpack::LayoutDims{layout},
               [=](const ParsedTensor& parsed) __attribute__((always_inline)) {
                 CheckedTensor checked;
                 internal_dlpack::TakeFields(parsed, flags, &checked);
                 use(checked);
               });
}

// Without the layout.
[[gnu::always_inline]] inline Defect FindDefect(const DLTensor& t, uint64_t flags,
                                                CheckedTensor* out) {
  ParsedTensor parsed;
  const Defect defect = Parse(t, flags, NoDims(), &parsed);
  internal_dlpack::TakeFields(parsed, flags, out);
  return defect;
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
