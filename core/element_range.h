// ElementRange: the elements of a strided layout in row-major order, for range-based loops.
//
//   absl::StatusOr<ElementRange<float>> elements = tensor.elements<float>();
//   for (float& value : *elements) value = 0;
//
// Borrows the Layout and the memory. An iterator is single-pass and ends at std::default_sentinel.
// For loops that must be fast, tensor.span<T>() of a contiguous tensor is the better way.

#ifndef DOVETAIL_CORE_ELEMENT_RANGE_H_
#define DOVETAIL_CORE_ELEMENT_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T>
class ElementRange {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;

    T& operator*() const { return *at_; }
    T* operator->() const { return at_; }

    Iterator& operator++() {
      --left_;
      // Like an odometer: the last dimension whose index can grow grows, those after it restart.
      for (int dim = layout_->rank() - 1; dim >= 0; --dim) {
        if (++index_[dim] < layout_->shape(dim)) {
          at_ += layout_->stride(dim);
          return *this;
        }
        at_ -= WrappingMultiply(index_[dim] - 1, layout_->stride(dim));
        index_[dim] = 0;
      }
      return *this;
    }
    void operator++(int) { ++*this; }

    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.left_ == 0; }

   private:
    friend class ElementRange;
    Iterator(T* first, const Layout* layout)
        : at_(first), layout_(layout), left_(layout->num_elements()), index_(layout->rank()) {}

    T* at_;
    const Layout* layout_;
    int64_t left_;
    absl::InlinedVector<int64_t, Layout::kInlineRank> index_;
  };

  ElementRange(T* first, const Layout& layout ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : first_(first), layout_(&layout) {}

  Iterator begin() const { return Iterator(first_, layout_); }
  std::default_sentinel_t end() const { return {}; }
  int64_t size() const { return layout_->num_elements(); }

 private:
  T* first_;
  const Layout* layout_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ELEMENT_RANGE_H_
