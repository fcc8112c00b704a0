// Layout: the shape of a tensor and how its elements are spaced.
//
//   absl::StatusOr<Layout> a = Layout::Contiguous({2, 3});            // strides {3, 1}
//   absl::StatusOr<Layout> b = Layout::Strided({2, 3}, {1, 2});       // column-major
//   a->extent()                                                      // {0, 5}: elements reached
//
// Strides count elements and may have any sign. Every Layout is checked when it is made: no size is
// negative, and the number of elements and every offset that the strides reach fit an int64. What
// is made from a Layout (views.h) therefore needs no check against overflow of its own.
//
// Up to kInlineRank dimensions are kept inline; more take one allocation. kMaxRank is the limit of
// NumPy and of Python's buffer protocol.

#ifndef DOVETAIL_CORE_LAYOUT_H_
#define DOVETAIL_CORE_LAYOUT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// The offsets of the first and last element that strides reach, in elements from element 0.
// lowest <= 0 <= highest; both 0 when there are no elements or one.
struct Extent {
  int64_t lowest = 0;
  int64_t highest = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

class Layout {
 public:
  static constexpr int kInlineRank = 6;
  static constexpr int kMaxRank = 64;

  // Rank 0: one element.
  Layout() noexcept : rank_(0), num_elements_(1), heap_(nullptr) {}
  Layout(const Layout& other) : rank_(0) { CopyFrom(other); }
  Layout(Layout&& other) noexcept : rank_(0) { MoveFrom(other); }
  Layout& operator=(const Layout& other) {
    if (this != &other) {
      Free();
      CopyFrom(other);
    }
    return *this;
  }
  Layout& operator=(Layout&& other) noexcept {
    if (this != &other) {
      Free();
      MoveFrom(other);
    }
    return *this;
  }
  ~Layout() { Free(); }

  // Row-major strides. InvalidArgument for a negative size, more than kMaxRank dimensions or an
  // overflowing number of elements.
  static absl::StatusOr<Layout> Contiguous(absl::Span<const int64_t> shape);

  // As given; shape and strides have the same length. InvalidArgument as above and when an offset
  // that the strides reach overflows. Strides of dimensions of size 0 or 1 mean nothing and are
  // kept as they are (DLPack and the array API leave them free).
  static absl::StatusOr<Layout> Strided(absl::Span<const int64_t> shape,
                                        absl::Span<const int64_t> strides);

  // Fills `*this` from arrays of `rank` sizes and strides (nullptr: row-major); what Contiguous and
  // Strided do, without a StatusOr to move out of. On an error the layout is of rank 0.
  absl::Status Assign(int64_t rank, const int64_t* shape, const int64_t* strides);

  // The same without a reason, for importers: false on an error. `extent` is what extent() says
  // then.
  bool TryAssign(int64_t rank, const int64_t* shape, const int64_t* strides, Extent* extent);

  // The same for what nearly all tensors have, in few steps: 1 to kInlineRank dimensions, sizes of
  // at least 1, strides of at least 0, none of these numbers large. False for all others: the
  // layout is then of rank 0, and TryAssign is to be asked. Not for a layout that has more than
  // kInlineRank dimensions.
  bool TryAssignPlain(int64_t rank, const int64_t* shape, const int64_t* strides, Extent* extent);

  // A new layout, row-major, in few steps. Of sizes that take more (one of 0, a large one, many of
  // them) num_elements() is -1, and the layout is of no use but to be assigned to.
  struct InFewSteps {};
  Layout(InFewSteps, absl::Span<const int64_t> shape);

  // The checks alone, and nothing kept: the number of elements, or -1 on an error.
  static int64_t Measure(int64_t rank, const int64_t* shape, const int64_t* strides,
                         Extent* extent);

  // Keeps `count` indices of dimension `dim`: `start`, `start + step`, ..., all of which it has, or
  // none. The offset, in elements, of the new element 0 from the old one. (A part of a layout needs
  // no check against overflow.)
  int64_t Narrow(int dim, int64_t start, int64_t count, int64_t step);

  int rank() const { return rank_; }
  absl::Span<const int64_t> shape() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return {dims(), static_cast<size_t>(rank_)};
  }
  absl::Span<const int64_t> strides() const ABSL_ATTRIBUTE_LIFETIME_BOUND {
    return {dims() + rank_, static_cast<size_t>(rank_)};
  }
  // Writes rank() sizes, then rank() strides.
  void CopyTo(int64_t* dims) const { CopyWords(dims, this->dims(), 2 * rank_); }
  int64_t shape(int dim) const { return dims()[dim]; }
  int64_t stride(int dim) const { return dims()[rank_ + dim]; }
  int64_t num_elements() const { return num_elements_; }

  // Row-major without gaps. Dimensions of size 1 are passed over; no elements are contiguous.
  bool is_contiguous() const;

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
  const int64_t* dims() const { return rank_ <= kInlineRank ? inline_ : heap_; }
  int64_t* dims() { return rank_ <= kInlineRank ? inline_ : heap_; }
  void Free() {
    if (rank_ > kInlineRank) FreeHeap();
  }
  void FreeHeap();
  void AllocateHeap(int rank);
  // Copies `count` words, an even number. The barrier keeps the compiler from using vectors, which
  // would wait for words that were just written one by one, and string instructions or calls, which
  // take longer than the copies.
  static void CopyWords(int64_t* to, const int64_t* from, int count) {
    for (int i = 0; i < count; i += 2) {
      int64_t a = from[i], b = from[i + 1];
      asm volatile("" : "+r"(a), "+r"(b));
      to[i] = a;
      to[i + 1] = b;
    }
  }
  void CopyFrom(const Layout& other) {
    if (other.rank_ > kInlineRank) AllocateHeap(other.rank_);
    rank_ = other.rank_;
    num_elements_ = other.num_elements_;
    CopyWords(dims(), other.dims(), 2 * rank_);
  }
  void MoveFrom(Layout& other) noexcept {
    rank_ = other.rank_;
    num_elements_ = other.num_elements_;
    if (rank_ > kInlineRank) {
      heap_ = other.heap_;
      other.rank_ = 0;
      other.num_elements_ = 1;
    } else {
      CopyWords(inline_, other.inline_, 2 * rank_);
    }
  }

  int32_t rank_;
  int64_t num_elements_;
  union {
    int64_t inline_[2 * kInlineRank];  // rank_ sizes, then rank_ strides
    int64_t* heap_;                    // the same, when rank_ > kInlineRank
  };
};

namespace internal_layout {

// Finds how far sizes and strides reach, and writes them to `dims` if that is not null. The number
// of elements, or -1 when something is wrong with them.
int64_t Walk(int64_t rank, const int64_t* shape, const int64_t* strides, int64_t* dims,
             Extent* extent);

// The same, short and in place for what nearly all tensors have: sizes of at least 1, strides of at
// least 0, few dimensions, and none of these numbers large. -1 for all others, of which Walk knows
// more. `dims` is written to in any case if there are at most Layout::kInlineRank dimensions.
template <bool kKeep>
[[gnu::always_inline]] inline int64_t WalkPlain(int64_t rank, const int64_t* shape,
                                                const int64_t* strides, int64_t* dims,
                                                Extent* extent) {
  // Where every number is below the limit, no product or sum can have overflowed on the way, so
  // that one look at all of them together does in the end.
  constexpr uint64_t kLimit = uint64_t{1} << 30;
  static_assert(kLimit * kLimit * Layout::kInlineRank < uint64_t{1} << 63);
  if (rank > Layout::kInlineRank) return -1;
  uint64_t product = 1, highest = 0, seen = 0;
  for (int64_t i = rank - 1; i >= 0; --i) {
    const auto size = static_cast<uint64_t>(shape[i]);
    const uint64_t stride = strides != nullptr ? static_cast<uint64_t>(strides[i]) : product;
    if constexpr (kKeep) {
      dims[i] = static_cast<int64_t>(size);
      dims[rank + i] = static_cast<int64_t>(stride);
    }
    product *= size;
    highest += (size - 1) * stride;
    seen |= (size - 1) | stride | product;
  }
  if (seen >= kLimit) [[unlikely]]
    return -1;
  *extent = {0, static_cast<int64_t>(highest)};
  return static_cast<int64_t>(product);
}

}  // namespace internal_layout

inline bool Layout::TryAssign(int64_t rank, const int64_t* shape, const int64_t* strides,
                              Extent* extent) {
  Free();
  rank_ = 0;
  num_elements_ = 1;
  int64_t* dims = inline_;
  if (rank < 0 || rank > kInlineRank) {
    if (rank < 0 || rank > kMaxRank) return false;
    AllocateHeap(static_cast<int>(rank));
    dims = heap_;
  }
  Extent reached;  // never pointed at, so that it may stay in registers
  int64_t count = internal_layout::WalkPlain<true>(rank, shape, strides, dims, &reached);
  if (count < 0) [[unlikely]] {
    Extent other;
    count = internal_layout::Walk(rank, shape, strides, dims, &other);
    reached = other;
    if (count < 0) {
      if (rank > kInlineRank) FreeHeap();
      return false;
    }
  }
  *extent = reached;
  rank_ = static_cast<int32_t>(rank);
  num_elements_ = count;
  return true;
}

[[gnu::always_inline]] inline bool Layout::TryAssignPlain(int64_t rank, const int64_t* shape,
                                                          const int64_t* strides, Extent* extent) {
  if (rank < 1) return false;
  Extent reached;
  const int64_t count = internal_layout::WalkPlain<true>(rank, shape, strides, inline_, &reached);
  if (count < 0) [[unlikely]]
    return false;
  *extent = reached;
  rank_ = static_cast<int32_t>(rank);
  num_elements_ = count;
  return true;
}

inline Layout::Layout(InFewSteps, absl::Span<const int64_t> shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  Extent extent;
  num_elements_ = internal_layout::WalkPlain<true>(rank, shape.data(), nullptr, inline_, &extent);
  rank_ = num_elements_ < 0 ? 0 : static_cast<int32_t>(rank);
}

inline int64_t Layout::Measure(int64_t rank, const int64_t* shape, const int64_t* strides,
                               Extent* extent) {
  if (rank < 0 || rank > kMaxRank) return -1;
  const int64_t count = internal_layout::WalkPlain<false>(rank, shape, strides, nullptr, extent);
  if (count >= 0) [[likely]]
    return count;
  return internal_layout::Walk(rank, shape, strides, nullptr, extent);
}

// a * b modulo 2^64, for a product that means nothing where it overflows: the stride of a dimension
// with one element or none, an offset into a tensor without elements.
constexpr int64_t WrappingMultiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// "(2, 3)", "(4,)", "()": as Python prints a tuple.
std::string ShapeToString(absl::Span<const int64_t> shape);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_LAYOUT_H_
