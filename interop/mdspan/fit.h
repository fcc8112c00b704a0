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
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_mdspan {

using internal_interop::Misfit;
using internal_interop::Want;

template <size_t kRank>
using Numbers = std::array<int64_t, kRank>;

// The rank is a constant, so that loops over it are none.
template <size_t kRank>
[[gnu::always_inline]] inline internal_interop::Offer OfferOf(const Numbers<kRank>& shape,
                                                              const Numbers<kRank>& strides) {
  return {.rank = static_cast<int32_t>(kRank), .shape = shape.data(), .strides = strides.data()};
}

// FitStrides where the strides of single elements, or of no elements, stand in the way.
template <size_t kRank>
[[gnu::noinline]] Misfit ReplaceStrides(const internal_interop::Requirements& want,
                                        const Numbers<kRank>& shape, int64_t num_elements,
                                        Numbers<kRank>* strides) {
  // Without elements: row-major. The sizes of a Layout other than 0 multiply to an int64.
  int64_t row_major = 1;
  for (size_t i = kRank; i-- > 0;) {
    if (num_elements == 0) {
      (*strides)[i] = row_major;
      row_major *= std::max<int64_t>(shape[i], 1);
    } else if (shape[i] == 1) {
      (*strides)[i] = 1;
    }
  }
  return internal_interop::FindMisfit(internal_mdspan::OfferOf(shape, *strides), want);
}

// Turns the tensor's strides into those of a layout_stride mapping. `want` holds the other
// requirements.
template <size_t kRank>
[[gnu::always_inline]] inline Misfit FitStrides(internal_interop::Requirements want,
                                                const Numbers<kRank>& shape, int64_t num_elements,
                                                Numbers<kRank>* strides) {
  namespace in = internal_interop;
  want.flags |= in::kWantNested | in::kWantIndexedMemory;
  const Misfit misfit = in::FindMisfit(internal_mdspan::OfferOf(shape, *strides), want);
  const bool may_help = misfit.want == Want::kSign || misfit.want == Want::kNested;
  if (!may_help) [[likely]]
    return misfit;
  return internal_mdspan::ReplaceStrides(want, shape, num_elements, strides);
}

// `extents` and `strides` are what the type wants, as text.
[[gnu::cold]] inline absl::Status MisfitError(const Misfit& misfit, absl::string_view extents,
                                              const Tensor& tensor) {
  struct Words {
    const char* reason;
    const char* remedy;
  };
  const auto words = [&misfit]() -> Words {
    switch (misfit.want) {
      case Want::kRank:
        return {"the ranks differ", "Name extents of the tensor's rank, or Reshape it"};
      case Want::kSize:
        return {"the static extents differ from its shape",
                "Name extents of this shape, or dynamic ones"};
      case Want::kIndex:
        return {"its offsets do not fit the index type", "Name extents with a wider index type"};
      case Want::kStride:
        return {"its strides are not those of the layout",
                "Name layout_stride, or copy it: AsContiguous(tensor) for layout_right"};
      case Want::kSign:
        if (misfit.found < 0) {
          return {"the strides of an mdspan are positive",
                  "Reverse that dimension by a Slice with step -1, or copy it: Copied(tensor)"};
        }
        return {"the elements of an mdspan are distinct, and these repeat",
                "Select one element of that dimension, or copy it: Copied(tensor)"};
      case Want::kNested:
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
