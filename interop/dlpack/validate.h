// Reads a DLTensor: every check of an import, with nothing owned and nothing changed.
//
//   CheckedTensor checked;
//   Layout layout;
//   absl::Status s = Validate(managed->dl_tensor, managed->flags, &checked, &layout);
//
// The rules are dlpack.h 1.3's: number of dimensions, sizes, strides (NULL: row-major), type code
// and bits, flags, data. All errors are InvalidArgument and name what was wrong.

#ifndef DOVETAIL_INTEROP_DLPACK_VALIDATE_H_
#define DOVETAIL_INTEROP_DLPACK_VALIDATE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"

namespace dovetail::inline DOVETAIL_ABI {

// What a valid DLTensor says beside its layout.
struct CheckedTensor {
  Device device;
  DType dtype;
  Tensor::Options options;
  // The lowest byte that the strides reach (or the opaque handle), how many bytes from there are
  // reached, and where element 0 lies among them.
  void* data = nullptr;
  size_t nbytes = 0;
  int64_t byte_offset = 0;
};

// The flags that this version understands; any other may change the layout, so it is refused.
inline constexpr uint64_t kKnownFlags = DLPACK_FLAG_BITMASK_READ_ONLY |
                                        DLPACK_FLAG_BITMASK_IS_COPIED |
                                        DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;

absl::Status Validate(const DLTensor& tensor, uint64_t flags, CheckedTensor* checked,
                      Layout* layout);

// Another major version than this one's: nothing beyond `deleter` may be read.
absl::Status ValidateVersion(DLPackVersion version);

}  // namespace dovetail::inline DOVETAIL_ABI

#endif  // DOVETAIL_INTEROP_DLPACK_VALIDATE_H_
