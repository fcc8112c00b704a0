// The Offer of a Tensor, for FindMisfit (find_misfit.h).
//
//   const Misfit misfit = FindMisfit(OfferOf(tensor), want);
//
// It borrows the tensor's shape and strides.

#ifndef DOVETAIL_INTEROP_OFFER_H_
#define DOVETAIL_INTEROP_OFFER_H_

#include <bit>
#include <cstdint>

#include "absl/base/attributes.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// Shape and strides alone.
inline Offer OfferOf(const Layout& layout ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  return {
      .rank = layout.rank(), .shape = layout.shape().data(), .strides = layout.strides().data()};
}

// `tensor` is not null.
inline Offer OfferOf(const Tensor& tensor ABSL_ATTRIBUTE_LIFETIME_BOUND) {
  Offer offer = OfferOf(tensor.layout());
  offer.type = std::bit_cast<uint32_t>(tensor.dtype());
  offer.device = static_cast<int32_t>(tensor.device().type);
  offer.address = reinterpret_cast<uintptr_t>(tensor.raw_data());
  offer.is_read_only = tensor.is_read_only();
  return offer;
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OFFER_H_
