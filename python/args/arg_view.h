// View: a pointer with sizes and strides, by value.
//
//   View<float, 2> v = x.view<float>();              // of an Arg, which is one itself
//   for (int64_t i = 0; i < v.shape(0); ++i) sum += v(i, j);
//
// Sizes and strides are the View's own where its rank is known, so that no store through it can
// change them and a loop runs as fast as over a plain pointer. A View of any rank (-1) borrows
// them. The memory is borrowed in any case. C++17; no Python, no library.

#ifndef DOVETAIL_PYTHON_ARGS_ARG_VIEW_H_
#define DOVETAIL_PYTHON_ARGS_ARG_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dovetail/python/args/sizes.h"

#if defined(__has_include)
#if __has_include(<version>)
#include <version>
#endif
#endif
#ifdef __cpp_lib_span
#include <span>
#endif
#ifdef __cpp_lib_mdspan
#include <array>
#include <mdspan>
#endif

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

template <int kRank>
struct Dims {
  Dims(int32_t, const int64_t* all_sizes, const int64_t* all_strides) {
    for (int i = 0; i < kRank; ++i) sizes[i] = all_sizes[i];
    for (int i = 0; i < kRank; ++i) strides[i] = all_strides[i];
  }
  static constexpr int ndim() { return kRank; }

  int64_t sizes[kRank > 0 ? static_cast<size_t>(kRank) : 1];
  int64_t strides[kRank > 0 ? static_cast<size_t>(kRank) : 1];
};
template <>
struct Dims<-1> {
  Dims(int32_t count, const int64_t* all_sizes, const int64_t* all_strides)
      : sizes(all_sizes), strides(all_strides), rank(count) {}
  int ndim() const { return rank; }

  const int64_t* sizes;
  const int64_t* strides;
  int rank;
};

}  // namespace internal_arg

// Some dimensions of a tensor, borrowed from it.
class SizeSpan {
 public:
  SizeSpan(const int64_t* sizes, int ndim) : sizes_(sizes), ndim_(ndim) {}
  const int64_t* begin() const { return sizes_; }
  const int64_t* end() const { return sizes_ + ndim_; }
  int size() const { return ndim_; }
  int64_t operator[](int i) const { return sizes_[i]; }

 private:
  const int64_t* sizes_;
  int ndim_;
};

// Which elements lie one after the other.
enum class Dense { kNone, kRows, kAll };

// `kOnHost`: the CPU can read the elements.
template <typename T, int kRank = -1, Dense kDense = Dense::kNone, bool kOnHost = true>
class View {
 public:
  static constexpr bool kHasDenseRows = kDense != Dense::kNone;
  using element_type = T;
  using reference = std::add_lvalue_reference_t<T>;
  using value_type = std::remove_const_t<T>;

  // `sizes` and `strides` (elements) have `ndim` entries, which is kRank unless that is -1.
  View(T* data, int32_t ndim, const int64_t* sizes, const int64_t* strides)
      : dims_(ndim, sizes, strides), data_(data) {
    // (Without sign: beside a size of 0 the others may have any product.)
    uint64_t size = 1;
    for (int i = 0; i < dims_.ndim(); ++i) size *= static_cast<uint64_t>(dims_.sizes[i]);
    size_ = static_cast<int64_t>(size);
  }

  // Element 0, aligned to the element type; on a GPU a device pointer. May be null without
  // elements.
  T* data() const { return data_; }
  // The number of elements.
  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int ndim() const { return dims_.ndim(); }
  // Of dimension i, from 0 to ndim() - 1. Strides are in elements and may be negative.
  int64_t shape(int i) const { return dims_.sizes[i]; }
  int64_t stride(int i) const { return dims_.strides[i]; }
  // ndim() entries.
  const int64_t* shape() const { return dims_.sizes; }
  const int64_t* strides() const { return dims_.strides; }

  // An element by its indices, which are not checked.
  template <typename... Indices>
  reference operator()(Indices... indices) const {
    static_assert(kOnHost, "The CPU can't read memory on this device.");
    static_assert(kRank < 0 || kRank == static_cast<int>(sizeof...(Indices)),
                  "One index for each dimension.");
    int64_t offset = 0;
    int i = 0;
    ((offset += static_cast<int64_t>(indices) * dims_.strides[i++]), ...);
    return data_[offset];
  }

  // The elements in row-major order, where they are dense.
  reference operator[](int64_t i) const {
    CheckDense();
    return data_[i];
  }
  T* begin() const {
    CheckDense();
    return data_;
  }
  T* end() const { return begin() + size_; }

#ifdef __cpp_lib_span
  std::span<T> span() const {
    CheckDense();
    return {data_, static_cast<size_t>(size_)};
  }
#endif

#ifdef __cpp_lib_mdspan
  // Of the view's rank, sizes and strides.
  auto mdspan() const {
    static_assert(kRank >= 0, "An mdspan needs a rank: add Shape<...> or Rank<n>.");
    using Extents = std::dextents<int64_t, static_cast<size_t>(kRank)>;
    std::array<int64_t, static_cast<size_t>(kRank)> sizes{}, steps{};
    for (int i = 0; i < kRank; ++i) {
      sizes[static_cast<size_t>(i)] = shape(i);
      steps[static_cast<size_t>(i)] = stride(i);
    }
    return std::mdspan<T, Extents, std::layout_stride>(
        data_, std::layout_stride::mapping<Extents>(Extents(sizes), steps));
  }
#endif

 private:
  static void CheckDense() {
    static_assert(kDense == Dense::kAll,
                  "Elements lie one after the other only in an Arg<..., dovetail::Contiguous>.");
    static_assert(kOnHost, "The CPU can't read memory on this device.");
  }

  internal_arg::Dims<kRank> dims_;
  T* data_;
  int64_t size_;
};

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_ARG_VIEW_H_
