#include "dovetail/interop/buffer/import.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/buffer/format.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This buffer can't be shared: ", what, "."));
}

}  // namespace

absl::Status DescribeBuffer(const BufferDescription& b, BufferLayout* out) {
  absl::StatusOr<DType> dtype =
      DTypeFromFormat(b.format == nullptr ? kDefaultFormat : b.format, b.itemsize);
  if (!dtype.ok()) return dtype.status();
  if (b.has_suboffsets) {
    return Error("its elements lie behind pointers (suboffsets); copy it first");
  }
  if (b.shape == nullptr && b.ndim > 1) {
    return Error(absl::StrCat("it has ", b.ndim, " dimensions but no shape"));
  }
  const int64_t count = b.nbytes / b.itemsize;
  const bool is_row = b.shape == nullptr;  // or one element, whose shape is not read
  BufferLayout layout;
  absl::Status status = DescribeStrided({.data = b.data,
                                         .dtype = *dtype,
                                         .rank = b.ndim,
                                         .shape = is_row ? &count : b.shape,
                                         .strides = is_row ? nullptr : b.strides,
                                         .read_only = b.read_only},
                                        &layout);
  if (!status.ok()) return status;
  int64_t packed;
  if (__builtin_mul_overflow(layout.layout.num_elements(), b.itemsize, &packed) ||
      packed != b.nbytes) {
    return Error(absl::StrCat("its length is ", b.nbytes, " bytes, which does not match ",
                              layout.layout.ToString(), " of ", dtype->ToString()));
  }
  *out = std::move(layout);
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
