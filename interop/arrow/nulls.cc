#include "dovetail/interop/arrow/nulls.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/error.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int64_t kNotCounted = -1;

// The number of 0 bits in [begin, end) of a bitmap whose lowest bit comes first.
int64_t CountUnset(const uint8_t* bits, int64_t begin, int64_t end) {
  int64_t set = 0, i = begin;
  for (; i < end && i % 8 != 0; ++i) set += bits[i / 8] >> (i % 8) & 1;
  for (; i + 8 <= end; i += 8) set += std::popcount(bits[i / 8]);
  for (; i < end; ++i) set += bits[i / 8] >> (i % 8) & 1;
  return end - begin - set;
}

}  // namespace

absl::Status CheckNoNulls(const ArrowArray& array, int64_t first, int64_t count, Device device) {
  int64_t nulls = array.null_count;
  if (nulls < kNotCounted || nulls > array.length) {
    return ArrowError(
        absl::StrCat("its null count is ", nulls, ", with ", array.length, " elements"));
  }
  const void* validity = array.buffers[0];
  if (nulls == 0 || count == 0) return absl::OkStatus();
  // The array's count is of all its elements, of which these may be a part.
  const bool is_for_these = nulls != kNotCounted && count == array.length;
  if (!is_for_these) {
    if (validity == nullptr && nulls == kNotCounted) return absl::OkStatus();
    if (validity == nullptr) {
      return ArrowError(absl::StrCat("it has ", nulls, " nulls but no validity bits (NULL)"));
    }
    if (!IsHostAccessible(device.type)) {
      return ArrowError(absl::StrCat("its nulls are not counted, and the host can't count them on ",
                                     device.ToString(), "; let the producer do that first"));
    }
    nulls = CountUnset(static_cast<const uint8_t*>(validity), first, first + count);
  }
  if (nulls == 0) return absl::OkStatus();
  return ArrowError(absl::StrCat(nulls, " of its ", count,
                                 " elements are null, which tensors do not support; fill them "
                                 "first, as with pyarrow's a.fill_null(0), or drop them with "
                                 "a.drop_null()"));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
