#include "dovetail/tests/fuzz/plain_copy.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"

namespace dovetail::fuzz {
namespace {

// Calls each(bit of src, bit of dst) for each lane of each element, from element 0 of each.
template <typename Each>
void ForEachLane(const std::vector<int64_t>& shape, const PlainSide& src, const PlainSide& dst,
                 Each each) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  std::vector<int64_t> index(shape.size());
  int64_t from = 0, to = 0;
  while (true) {
    for (int lane = 0; lane < dst.dtype.lanes; ++lane) {
      each(from + lane * src.dtype.bits, to + lane * dst.dtype.bits);
    }
    for (size_t dim = shape.size();; index[dim] = 0) {
      if (dim-- == 0) return;
      const bool wraps = ++index[dim] == shape[dim];
      const int64_t steps = wraps ? 1 - shape[dim] : 1;
      from += steps * src.strides[dim] * src.step;
      to += steps * dst.strides[dim] * dst.step;
      if (!wraps) break;
    }
  }
}

DType LaneOf(DType dtype) { return {dtype.kind, dtype.bits, 1}; }

}  // namespace

std::string Difference::ToString() const {
  return absl::StrCat("at bit ", bit, " of the destination: ", ElementHex(source), " became ",
                      ElementHex(seen), ", not ", ElementHex(expected));
}

std::optional<Difference> ComparePlainly(const std::vector<int64_t>& shape, const PlainSide& src,
                                         const PlainSide& seen, char* expected,
                                         const CastFunction& cast) {
  const DType from = LaneOf(src.dtype), to = LaneOf(seen.dtype);
  // The bits beside a sub-byte element that has a byte of its own mean nothing.
  const bool has_padding = to.bits % 8 != 0 && seen.step == 8;
  std::optional<Difference> difference;
  ForEachLane(shape, src, seen, [&](int64_t from_bit, int64_t to_bit) {
    const Element source = ElementAt(src.origin, from_bit, from);
    const Element want = cast != nullptr ? cast(source) : source;
    const Element got = ElementAt(seen.origin, to_bit, to);
    if (!difference.has_value() && want != got && !SameValue(want, got, to)) {
      difference = Difference{to_bit, source, want, got};
    }
    PutElement(expected, to_bit, to, got);
    if (has_padding) expected[to_bit >> 3] = seen.origin[to_bit >> 3];
  });
  return difference;
}

}  // namespace dovetail::fuzz
