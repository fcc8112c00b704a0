#include "dovetail/interop/buffer/strided.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This memory can't be shared: ", what, "."));
}

absl::Status AssignLayout(const StridedDescription& m, Layout* layout) {
  absl::Status status = internal_layout::Assign(layout, m.rank, m.shape, nullptr);
  if (!status.ok() || m.strides == nullptr) return status;
  const int64_t itemsize = m.dtype.itemsize();
  absl::InlinedVector<int64_t, Layout::kInlineRank> strides(m.rank);
  for (int64_t i = 0; i < m.rank; ++i) {
    // The stride of a dimension of size 0 or 1, or of a tensor without elements, has no meaning.
    const bool used = m.shape[i] > 1 && layout->num_elements() != 0;
    if (used && m.strides[i] % itemsize != 0) {
      return Error(absl::StrCat("its stride of ", m.strides[i], " bytes is not a multiple of the ",
                                itemsize, " bytes of an element; copy it first"));
    }
    strides[i] = m.strides[i] / itemsize;
  }
  return internal_layout::Assign(layout, m.rank, m.shape, strides.data());
}

}  // namespace

absl::Status DescribeStrided(const StridedDescription& m, BufferLayout* out) {
  Layout layout;
  if (absl::Status s = AssignLayout(m, &layout); !s.ok()) return s;
  ByteRange range;
  if (absl::Status s = BytesReached(layout, m.dtype, Packing::kPacked, &range); !s.ok()) return s;
  if (m.data == nullptr && layout.num_elements() != 0) return Error("it has elements but no data");
  uintptr_t first, end;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(m.data), range.begin, &first) ||
      __builtin_add_overflow(first, range.size(), &end)) {
    return Error("it reaches beyond the address space");
  }
  out->dtype = m.dtype;
  out->layout = std::move(layout);
  out->access = m.read_only ? Access::kReadOnly : Access::kReadWrite;
  out->data = reinterpret_cast<void*>(first);
  out->nbytes = range.size();
  out->byte_offset = -range.begin;
  return absl::OkStatus();
}

Tensor AdoptBuffer(BufferLayout&& memory, Device device, Storage::Release release) {
  StorageRef storage = Storage::Adopt(memory.data, memory.nbytes, device, release);
  return internal_tensor::MakeUnchecked(std::move(storage), memory.byte_offset, memory.dtype,
                                        std::move(memory.layout), {.access = memory.access});
}

void FillByteStrides(const Layout& layout, int64_t itemsize, int64_t* strides) {
  int64_t dense = itemsize;
  for (int i = layout.rank() - 1; i >= 0; --i) {
    const bool used = layout.num_elements() != 0 && layout.shape(i) > 1;
    strides[i] = used ? layout.stride(i) * itemsize : dense;
    dense = WrappingMultiply(dense, layout.shape(i) == 0 ? 1 : layout.shape(i));
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
