// Layout: the shape of a tensor and how its elements are spaced.
//
//   absl::StatusOr<Layout> a = Layout::Contiguous({2, 3});            // strides {3, 1}
//   absl::StatusOr<Layout> b = Layout::Strided({2, 3}, {1, 2});       // column-major
//   a->extent()                                                      // {0, 5}: elements reached
//
// Strides count elements and may have any sign. Every Layout is checked when it is made: no size is
// negative, and the number of elements and every offset that the strides reach fit an int64. Views
// of a Layout therefore cannot overflow.
//
// A value type: copies are independent. Up to kInlineRank dimensions are stored inline; a Layout
// with more makes one allocation.

#ifndef DOVETAIL_CORE_LAYOUT_H_
#define DOVETAIL_CORE_LAYOUT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/freestanding/extent.h"
#include "dovetail/core/internal/layout_rep.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_layout {
class LayoutAccess;
}  // namespace internal_layout

// How the dimensions of new memory are ordered. The names are NumPy's.
enum class MemoryOrder : uint8_t {
  kC,  // row-major: the last dimension is contiguous
  kF,  // column-major: the first dimension is contiguous
  kA,  // column-major if the source is column-major and not row-major; else row-major
  kK,  // like the source, without its gaps: dimensions sorted by the size of their strides
};

class Layout {
 public:
  static constexpr int kInlineRank = internal_layout::LayoutRep::kInlineRank;
  static constexpr int kMaxRank = 64;  // the limit of NumPy and of Python's buffer protocol

  // Rank 0: one element.
  Layout() noexcept = default;

  // Row-major strides. InvalidArgument for a negative size, more than kMaxRank dimensions, or a
  // number of elements that overflows an int64.
  static absl::StatusOr<Layout> Contiguous(absl::Span<const int64_t> shape);

  // The given strides; `shape` and `strides` have the same length. InvalidArgument as above and
  // when an offset overflows an int64. Strides of dimensions of size 0 or 1 mean nothing and are
  // kept as they are (DLPack and the array API leave them free).
  static absl::StatusOr<Layout> Strided(absl::Span<const int64_t> shape,
                                        absl::Span<const int64_t> strides);

  int rank() const { return rep_.rank(); }
  absl::Span<const int64_t> shape() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return {rep_.dims(), static_cast<size_t>(rank())};
  }
  absl::Span<const int64_t> strides() const ABSL_ATTRIBUTE_LIFETIME_BOUND {  // in elements
    return {rep_.dims() + rank(), static_cast<size_t>(rank())};
  }
  // Of one dimension, 0 to rank() - 1.
  int64_t shape(int dim) const { return rep_.dims()[dim]; }
  int64_t stride(int dim) const { return rep_.dims()[rank() + dim]; }
  int64_t num_elements() const { return rep_.num_elements(); }

  // Row-major without gaps. Strides of dimensions of size 1 do not count; a layout without elements
  // is contiguous.
  bool is_contiguous() const;

  // Which offsets the elements have, in elements.
  Extent extent() const;

  // "shape (2, 3), strides (3, 1)"
  std::string ToString() const;

  friend bool operator==(const Layout& a, const Layout& b) {
    return a.shape() == b.shape() && a.strides() == b.strides();
  }
  template <typename H>
  friend H AbslHashValue(H h, const Layout& l) {
    return H::combine(std::move(h), l.shape(), l.strides());
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, const Layout& l) {
    sink.Append(l.ToString());
  }
  friend std::ostream& operator<<(std::ostream& os, const Layout& l) { return os << l.ToString(); }

 private:
  friend class internal_layout::LayoutAccess;
  internal_layout::LayoutRep rep_;
};

// a * b modulo 2^64: for a product that means nothing where it overflows, such as the stride of a
// dimension of one element, or an offset into a tensor without elements.
constexpr int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// A shape as Python prints a tuple: "(2, 3)", "(4,)", "()".
std::string ShapeToString(absl::Span<const int64_t> shape);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_LAYOUT_H_
