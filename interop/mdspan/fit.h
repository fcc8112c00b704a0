// Whether a tensor's layout can be an mdspan's, for export.h.
//
// The strides of layout_stride must be positive, and sorted by size each must step over all
// elements of the dimension before it; libraries assert that. Strides of dimensions of one element
// say nothing, so they are replaced if they stand in the way.

#ifndef DOVETAIL_INTEROP_MDSPAN_FIT_H_
#define DOVETAIL_INTEROP_MDSPAN_FIT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/refusal.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_mdspan {

enum class Misfit {
  kNone,
  kRank,
  kExtents,
  kIndex,
  kLayout,
  kNegative,
  kRepeated,
  kOverlapping,
  kAlignment,
};

template <size_t kRank>
using Numbers = std::array<int64_t, kRank>;

// Whether the strides, sorted by size, each step over all elements of the dimension before. True
// without sorting for strides that fall from dimension to dimension.
template <size_t kRank>
bool StepOverEachOther(const Numbers<kRank>& shape, const Numbers<kRank>& strides) {
  Numbers<kRank> order;
  for (size_t i = 0; i < kRank; ++i) order[i] = static_cast<int64_t>(kRank - 1 - i);
  const auto is_before = [&](int64_t a, int64_t b) {
    return strides[a] != strides[b] ? strides[a] < strides[b] : shape[a] < shape[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), is_before)) {
    std::sort(order.begin(), order.end(), is_before);
  }
  for (size_t i = 1; i < kRank; ++i) {
    int64_t reached;
    if (__builtin_mul_overflow(strides[order[i - 1]], shape[order[i - 1]], &reached) ||
        strides[order[i]] < reached) {
      return false;
    }
  }
  return true;
}

template <size_t kRank>
bool ArePositive(const Numbers<kRank>& strides) {
  return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride > 0; });
}

// Strides for layout_stride. `strides` holds the tensor's.
template <size_t kRank>
Misfit FitStrides(const Numbers<kRank>& shape, int64_t num_elements, Numbers<kRank>* strides) {
  if constexpr (kRank == 0) return Misfit::kNone;
  if (ArePositive(*strides) && StepOverEachOther(shape, *strides)) [[likely]] {
    return Misfit::kNone;
  }
  if (num_elements == 0) {
    // No element has an address: row-major. The sizes of a Layout other than 0 multiply to an
    // int64.
    int64_t stride = 1;
    for (size_t i = kRank; i-- > 0;) {
      (*strides)[i] = stride;
      stride *= std::max<int64_t>(shape[i], 1);
    }
    return Misfit::kNone;
  }
  for (size_t i = 0; i < kRank; ++i) {
    if (shape[i] == 1) (*strides)[i] = 1;
    if ((*strides)[i] < 0) return Misfit::kNegative;
    if ((*strides)[i] == 0) return Misfit::kRepeated;
  }
  return StepOverEachOther(shape, *strides) ? Misfit::kNone : Misfit::kOverlapping;
}

// `extents` and `strides` are what the type wants, as text.
[[gnu::cold]] inline absl::Status MisfitError(Misfit misfit, absl::string_view extents,
                                              const Tensor& tensor) {
  struct Words {
    const char* reason;
    const char* remedy;
  };
  const auto words = [misfit]() -> Words {
    switch (misfit) {
      case Misfit::kRank:
        return {"the ranks differ", "Name extents of the tensor's rank, or Reshape it"};
      case Misfit::kExtents:
        return {"the static extents differ from its shape",
                "Name extents of this shape, or dynamic ones"};
      case Misfit::kIndex:
        return {"its offsets do not fit the index type", "Name extents with a wider index type"};
      case Misfit::kLayout:
        return {"its strides are not those of the layout",
                "Name layout_stride, or copy it: AsContiguous(tensor) for layout_right"};
      case Misfit::kNegative:
        return {"the strides of an mdspan are positive",
                "Reverse that dimension by a Slice with step -1, or copy it: Copied(tensor)"};
      case Misfit::kRepeated:
        return {"the elements of an mdspan are distinct, and these repeat",
                "Select one element of that dimension, or copy it: Copied(tensor)"};
      case Misfit::kOverlapping:
        return {"its dimensions interleave, which layout_stride does not allow",
                "Copy it: Copied(tensor)"};
      default:
        return {"its memory is not aligned as the accessor promises", "Copy it: Copied(tensor)"};
    }
  }();
  return internal_interop::Refusal(tensor, absl::StrCat("an mdspan of ", extents), words.reason,
                                   words.remedy);
}

// The errors of Tensor::data<T>(), for memory on `device`.
inline absl::Status CheckOn(const Tensor& tensor, Device device, DType dtype, size_t alignment,
                            bool write) {
  const auto refuse = [&](absl::string_view reason, absl::string_view remedy) {
    return internal_interop::Refusal(
        tensor, absl::StrCat("an mdspan of ", dtype.ToString(), " on ", device.ToString()), reason,
        remedy);
  };
  if (tensor.is_null()) return refuse("", "Check is_null() first");
  if (tensor.dtype() != dtype) {
    return refuse("the element types differ", "Cast it: Copied(tensor, {.dtype = ...})");
  }
  if (tensor.device() != device) {
    return refuse("it is on another device", "Copy it: Copied(tensor, {.device = ...})");
  }
  if (!IsAddressable(device.type)) {
    return refuse("this device has no pointers", "Use the handle: tensor.raw_data()");
  }
  if (write && tensor.is_read_only()) {
    return refuse("it is read-only", "Name a const element type, or copy it first");
  }
  if (tensor.num_elements() != 0 &&
      reinterpret_cast<uintptr_t>(tensor.raw_data()) % alignment != 0) {
    return refuse("element 0 is misaligned", "Copy it first");
  }
  return absl::OkStatus();
}

}  // namespace internal_mdspan
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_MDSPAN_FIT_H_
