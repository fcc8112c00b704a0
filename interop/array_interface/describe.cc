#include "dovetail/interop/array_interface/describe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/array_interface/typestr.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This array can't be shared: ", what, "."));
}

bool LiesWithin(const BufferLayout& memory, absl::Span<const char> bounds) {
  // Wraps around to a large number if the memory begins before the bounds.
  const uintptr_t offset =
      reinterpret_cast<uintptr_t>(memory.data) - reinterpret_cast<uintptr_t>(bounds.data());
  return offset <= bounds.size() && memory.nbytes <= bounds.size() - offset;
}

}  // namespace

absl::Status DescribeArray(const ArrayDescription& a, BufferLayout* out) {
  if (a.has_mask) return Error("tensors do not support masks; fill in the masked elements first");
  absl::StatusOr<DType> dtype = DTypeFromTypestr(a.typestr);
  if (!dtype.ok()) return dtype.status();
  if (a.strides && a.strides->size() != a.shape.size()) {
    return Error(absl::StrCat("its shape has ", a.shape.size(), " dimensions and its strides ",
                              a.strides->size()));
  }
  BufferLayout memory;
  absl::Status status = DescribeStrided({.data = a.data,
                                         .dtype = *dtype,
                                         .rank = static_cast<int64_t>(a.shape.size()),
                                         .shape = a.shape.data(),
                                         .strides = a.strides ? a.strides->data() : nullptr,
                                         .read_only = a.read_only},
                                        &memory);
  if (!status.ok()) return status;
  if (a.within && memory.layout.num_elements() != 0 && !LiesWithin(memory, *a.within)) {
    return Error(absl::StrCat("its elements (", memory.layout.ToString(), " of ", dtype->ToString(),
                              ") reach outside its buffer of ", a.within->size(), " bytes"));
  }
  *out = std::move(memory);
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
