// RangeOr: an absl::StatusOr of a range, for loops over a temporary one.
//
//   for (float value : *tensor.elements<float>()) sum += value;
//   for (float value : tensor.span<float>().value()) sum += value;
//
// An absl::StatusOr gives out a reference into itself, and a temporary one ends before such a loop
// begins. A temporary RangeOr gives out the range by value, and C++ keeps that for the loop.
// Everything else is as in absl::StatusOr, to which a RangeOr converts.

#ifndef DOVETAIL_CORE_RANGE_OR_H_
#define DOVETAIL_CORE_RANGE_OR_H_

#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Range>
class [[nodiscard]] RangeOr : public absl::StatusOr<Range> {
  using Base = absl::StatusOr<Range>;

 public:
  using Base::Base;
  using Base::value;
  using Base::operator*;

  Range value() && { return std::move(*this).Base::value(); }
  Range operator*() && { return *static_cast<Base&&>(*this); }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_RANGE_OR_H_
