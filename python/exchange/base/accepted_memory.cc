#include "dovetail/python/exchange/base/accepted_memory.h"

#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/offer.h"
#include "dovetail/interop/requirements.h"

namespace dovetail::python {

const char* WhyRefused(const AcceptedMemory& accepts, const Tensor& tensor) {
  using internal_interop::Want;
  namespace in = internal_interop;
  in::Requirements want = {.alignment = accepts.alignment};
  if (!accepts.TakesAccess(tensor.access(), tensor.device().type)) want.flags |= in::kWantWritable;
  if (!accepts.negative_strides) want.flags |= in::kWantNonNegative;
  if (!accepts.strides) want.flags |= in::kWantRowMajor;
  switch (in::FindMisfit(in::OfferOf(tensor), want).want) {
    case Want::kNone:
      return nullptr;
    case Want::kAccess:
      return "is read-only, which it would not respect";
    case Want::kSign:
      return "has negative strides, which it has no way to say";
    case Want::kRowMajor:
      return "is not contiguous, which it asks for";
    default:
      return "is not aligned in memory as it asks";
  }
}

}  // namespace dovetail::python
