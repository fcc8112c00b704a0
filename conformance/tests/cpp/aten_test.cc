// The suite for DLPack libraries on ATen, PyTorch's tensor library in C++.

#include <cstring>
#include <optional>

#include "ATen/DLConvertor.h"
#include "ATen/ops/as_strided.h"
#include "ATen/ops/empty.h"
#include "dlpack_conformance/suite.h"

namespace {

using dlpack_conformance::ArraySpec;
using dlpack_conformance::Seen;

struct ATen {
  using Array = at::Tensor;

  // ATen has no read-only tensors.
  static std::optional<at::Tensor> Make(const ArraySpec& spec) {
    if (spec.read_only) return std::nullopt;
    const at::Tensor dense = at::empty(spec.shape, at::toScalarType(spec.dtype));
    if (spec.nbytes() > 0) std::memcpy(dense.data_ptr(), spec.elements, spec.nbytes());
    return at::as_strided(dense, spec.view_shape, spec.view_strides, spec.view_offset);
  }
  static DLManagedTensorVersioned* Export(const at::Tensor& x) { return at::toDLPackVersioned(x); }
  static DLManagedTensor* ExportLegacy(const at::Tensor& x) { return at::toDLPack(x); }
  static at::Tensor Import(DLManagedTensorVersioned* managed) {
    return at::fromDLPackVersioned(managed);
  }
  static at::Tensor ImportLegacy(DLManagedTensor* managed) { return at::fromDLPack(managed); }
  static Seen Look(const at::Tensor& y) {
    return {at::getDLDataType(y), y.data_ptr(), y.sizes().vec(), y.strides().vec()};
  }
  static void Write(const at::Tensor& y) { y.fill_(7); }
};

constexpr char kNegative[] = "at::from_blob() aborts on negative strides";
constexpr char kSizes[] = "sizes are used before they are checked";

DLPACK_CONFORMANCE(ATen, ATen,
                   {{"consumer.strides/versioned/reversed", kNegative},
                    {"consumer.strides/versioned/reversed_in_both", kNegative},
                    {"consumer.strides/legacy/reversed", kNegative},
                    {"consumer.strides/legacy/reversed_in_both", kNegative},
                    {"consumer.major/versioned/2.0", "the version is not looked at"},
                    {"consumer.impossible/versioned/ndim_minus_1", kSizes},
                    {"consumer.impossible/versioned/overflow", kSizes},
                    {"consumer.impossible/legacy/ndim_minus_1", kSizes},
                    {"consumer.impossible/legacy/overflow", kSizes},
                    {"consumer.null-data", "a tensor with the address NULL is made"}});

}  // namespace
