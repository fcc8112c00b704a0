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
#include "dovetail/core/internal/loop_nest.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/storage.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename T>
class ElementRange {
 public:
  class Iterator {
   public:
    using value_type = T;
    using difference_type = ptrdiff_t;

    T& operator*() const { return *at_.element; }
    T* operator->() const { return at_.element; }

    Iterator& operator++() {
      --left_;
      internal_loop_nest::NextIteration(Dimensions{layout_}, layout_->rank(), index_.data(), &at_);
      return *this;
    }
    void operator++(int) { ++*this; }

    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.left_ == 0; }

   private:
    friend class ElementRange;

    // The dimensions as loops. The last dimension comes first.
    struct Dimensions {
      const Layout* layout;
      internal_loop_nest::ElementLoop operator[](int i) const {
        const int dim = layout->rank() - 1 - i;
        return {layout->shape(dim), layout->stride(dim)};
      }
    };
    struct Place {
      T* element;
      void Move(const internal_loop_nest::ElementLoop& loop, int64_t iterations) {
        element += iterations * loop.step;
      }
    };

    Iterator(T* first, const Layout* layout)
        : at_{first},
          layout_(layout),
          left_(layout->num_elements()),
          index_(static_cast<size_t>(layout->rank())) {}

    Place at_;
    const Layout* layout_;
    int64_t left_;
    absl::InlinedVector<int64_t, Layout::kInlineRank> index_;  // the last dimension comes first
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
