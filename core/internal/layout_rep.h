// LayoutRep: where a Layout keeps its sizes and strides.
//
// Up to kInlineRank dimensions are stored inline, more in one heap allocation. Copies and moves
// are written out because they are on the path of every exchange. Not thread-safe.

#ifndef DOVETAIL_CORE_INTERNAL_LAYOUT_REP_H_
#define DOVETAIL_CORE_INTERNAL_LAYOUT_REP_H_

#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/core/freestanding/extent.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_layout {

// Copies `count` words; `count` is even. The barrier keeps the compiler from two slower forms:
// vector loads, which wait for words that were just stored one by one, and calls of memcpy.
inline void CopyWords(int64_t* to, const int64_t* from, int count) {
  for (int i = 0; i < count; i += 2) {
    int64_t a = from[i], b = from[i + 1];
    asm volatile("" : "+r"(a), "+r"(b));
    to[i] = a;
    to[i + 1] = b;
  }
}

class LayoutRep {
 public:
  static constexpr int kInlineRank = kPlainRank;

  // Rank 0: one element.
  LayoutRep() noexcept : rank_(0), num_elements_(1), heap_(nullptr) {}
  LayoutRep(const LayoutRep& other) : rank_(0) { CopyFrom(other); }
  // The source becomes rank 0 if its dimensions are on the heap; otherwise it keeps its value.
  LayoutRep(LayoutRep&& other) noexcept : rank_(0) { MoveFrom(other); }
  // Stays as it was if memory runs out.
  LayoutRep& operator=(const LayoutRep& other) {
    if (other.rank_ > kInlineRank) [[unlikely]]
      return *this = LayoutRep(other);
    if (this != &other) {
      Free();
      CopyFrom(other);
    }
    return *this;
  }
  LayoutRep& operator=(LayoutRep&& other) noexcept {
    if (this != &other) {
      Free();
      MoveFrom(other);
    }
    return *this;
  }
  ~LayoutRep() { Free(); }

  int rank() const { return rank_; }
  int64_t num_elements() const { return num_elements_; }
  // rank() sizes, then rank() strides.
  const int64_t* dims() const { return rank_ <= kInlineRank ? inline_ : heap_; }
  int64_t* dims() { return rank_ <= kInlineRank ? inline_ : heap_; }

  // The two steps of an assignment: room for `rank` dimensions, and, once these are written there,
  // the end. In between the rep is of rank 0 and owns no heap; Abandon() ends without a result.
  [[gnu::always_inline]] int64_t* Begin(int rank) {
    Free();
    rank_ = 0;
    num_elements_ = 1;
    if (rank <= kInlineRank) [[likely]]
      return inline_;
    AllocateHeap(rank);
    return heap_;
  }
  void Finish(int rank, int64_t num_elements) {
    rank_ = rank;
    num_elements_ = num_elements;
  }
  void Abandon(int rank) {
    if (rank > kInlineRank) FreeHeap();
  }
  // Begin() for a rep that holds no heap memory and a rank of at most kInlineRank.
  int64_t* BeginInline() { return inline_; }

  void set_num_elements(int64_t n) { num_elements_ = n; }

 private:
  void Free() {
    if (rank_ > kInlineRank) FreeHeap();
  }
  void FreeHeap();
  void AllocateHeap(int rank);
  void CopyFrom(const LayoutRep& other) {
    if (other.rank_ > kInlineRank) AllocateHeap(other.rank_);
    rank_ = other.rank_;
    num_elements_ = other.num_elements_;
    CopyWords(dims(), other.dims(), 2 * rank_);
  }
  void MoveFrom(LayoutRep& other) noexcept {
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
    int64_t inline_[2 * kInlineRank];
    int64_t* heap_;  // when rank_ > kInlineRank
  };
};

}  // namespace internal_layout
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_LAYOUT_REP_H_
