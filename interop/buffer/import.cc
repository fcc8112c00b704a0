#include "dovetail/interop/buffer/import.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/packing.h"
#include "dovetail/interop/buffer/format.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This buffer can't be shared: ", what, "."));
}

absl::Status Layouts(const BufferDescription& b, Layout* layout) {
  if (b.shape == nullptr && b.ndim != 0) {
    if (b.ndim != 1) return Error(absl::StrCat("it has ", b.ndim, " dimensions but no shape"));
    const int64_t count = b.nbytes / b.itemsize;
    return layout->Assign(1, &count, nullptr);
  }
  absl::Status status = layout->Assign(b.ndim, b.shape, nullptr);
  if (!status.ok() || b.strides == nullptr) return status;
  absl::InlinedVector<int64_t, Layout::kInlineRank> strides(b.ndim);
  for (int i = 0; i < b.ndim; ++i) {
    // The stride of a dimension with one element, or of no elements, means nothing.
    const bool used = b.shape[i] > 1 && layout->num_elements() != 0;
    if (used && b.strides[i] % b.itemsize != 0) {
      return Error(absl::StrCat("its stride of ", b.strides[i], " bytes is no multiple of the ",
                                b.itemsize, " bytes of an element; copy it first"));
    }
    strides[i] = b.strides[i] / b.itemsize;
  }
  return layout->Assign(b.ndim, b.shape, strides.data());
}

}  // namespace

absl::Status DescribeBuffer(const BufferDescription& b, BufferLayout* out) {
  absl::StatusOr<DType> dtype =
      DTypeFromFormat(b.format == nullptr ? kDefaultFormat : b.format, b.itemsize);
  if (!dtype.ok()) return dtype.status();
  if (b.has_suboffsets) {
    return Error("its elements lie behind pointers (suboffsets); copy it first");
  }
  Layout layout;
  if (absl::Status s = Layouts(b, &layout); !s.ok()) return s;
  int64_t packed;
  if (__builtin_mul_overflow(layout.num_elements(), b.itemsize, &packed) || packed != b.nbytes) {
    return Error(absl::StrCat("it says that it has ", b.nbytes, " bytes, but ", layout.ToString(),
                              " of ", dtype->ToString(), " is another number"));
  }
  ByteRange range;
  if (absl::Status s = BytesReached(layout, *dtype, Packing::kPacked, &range); !s.ok()) return s;
  if (b.data == nullptr && layout.num_elements() != 0) return Error("it has elements but no data");
  out->dtype = *dtype;
  out->layout = std::move(layout);
  out->access = b.read_only ? Access::kReadOnly : Access::kReadWrite;
  out->data = b.data == nullptr ? nullptr : static_cast<char*>(b.data) + range.begin;
  out->nbytes = range.size();
  out->byte_offset = -range.begin;
  return absl::OkStatus();
}

}  // namespace dovetail::inline DOVETAIL_ABI
