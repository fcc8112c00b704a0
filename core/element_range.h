// ElementRange: the elements of a strided layout in row-major order, for range-based loops.
//
//   for (float& value : *tensor.elements<float>()) value = 0;     // if it is known to succeed
//   RangeOr<ElementRange<float>> elements = tensor.elements<float>();
//
// A range owns its Layout and keeps the memory alive, so it may outlive the tensor. An iterator
// borrows the range's Layout, is single-pass, and ends at std::default_sentinel. For fast loops,
// use tensor.span<T>() of a contiguous tensor.

#ifndef DOVETAIL_CORE_ELEMENT_RANGE_H_
#define DOVETAIL_CORE_ELEMENT_RANGE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/container/inlined_vector.h"
#include "dovetail/core/config.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

namespace internal_element_range {

// Counts the elements of a layout in row-major order.
class Position {
 public:
  explicit Position(const Layout* layout)
      : layout_(layout), index_(layout->rank() == 0 ? 1 : static_cast<size_t>(layout->rank())) {
    if (layout->rank() == 0) return;
    row_size_ = layout->shape(layout->rank() - 1);
    row_step_ = layout->stride(layout->rank() - 1);
  }

  // Moves on to the next element. Returns how far on it lies, in elements.
  int64_t Next() {
    if (index_[0] + 1 >= row_size_) return NextRow();
    ++index_[0];
    return row_step_;
  }

 private:
  int64_t NextRow();

  const Layout* layout_;
  int64_t row_size_ = 1;  // the last dimension
  int64_t row_step_ = 0;
  absl::InlinedVector<int64_t, Layout::kInlineRank> index_;  // the last dimension comes first
};

}  // namespace internal_element_range

template <typename T>
class ElementRange {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;

    T& operator*() const { return *element_; }
    T* operator->() const { return element_; }

    Iterator& operator++() {
      --left_;
      element_ += position_.Next();
      return *this;
    }
    void operator++(int) { ++*this; }

    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.left_ == 0; }

   private:
    friend class ElementRange;

    Iterator(T* first, const Layout* layout)
        : element_(first), left_(layout->num_elements()), position_(layout) {}

    T* element_;
    int64_t left_;
    internal_element_range::Position position_;
  };

  // `storage` keeps the elements alive.
  ElementRange(T* first, Layout layout, StorageRef storage)
      : first_(first), layout_(std::move(layout)), storage_(std::move(storage)) {}

  Iterator begin() const& ABSL_ATTRIBUTE_LIFETIME_BOUND { return Iterator(first_, &layout_); }
  Iterator begin() const&& = delete;  // it would outlive the range
  std::default_sentinel_t end() const { return {}; }
  int64_t size() const { return layout_.num_elements(); }

 private:
  T* first_;
  Layout layout_;
  StorageRef storage_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ELEMENT_RANGE_H_
