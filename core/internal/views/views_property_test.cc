// Views of random layouts against a naive model: the list of the offsets of all elements, in order.

#include <numeric>
#include <random>
#include <vector>

#include "dovetail/core/internal/views/views.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using Dims = std::vector<int64_t>;

// The offset of every element, in row-major order of the indices.
Dims Offsets(const Layout& layout, int64_t base = 0) {
  Dims offsets;
  for (int64_t i = 0; i < layout.num_elements(); ++i) {
    int64_t rest = i, offset = base;
    for (int d = layout.rank() - 1; d >= 0; --d) {
      const int64_t at = rest % layout.shape(d);
      if (at != 0) offset += at * layout.stride(d);
      rest /= layout.shape(d);
    }
    offsets.push_back(offset);
  }
  return offsets;
}

class RandomLayouts : public testing::TestWithParam<unsigned> {
 protected:
  std::mt19937 random{GetParam()};

  int64_t Below(int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); }

  // Ranks lie on both sides of the inline limit. Strides without meaning are extreme values.
  Layout Make() {
    Dims shape, strides;
    const int64_t rank = Below(9);
    for (int64_t i = 0; i < rank; ++i) {
      shape.push_back(Below(20) == 0 ? 0 : 1 + Below(rank > 4 ? 2 : 5));
      strides.push_back(Below(41) - 20);
    }
    if (Below(3) == 0) {  // the strides of a dense tensor
      const Layout dense = *Layout::Contiguous(shape);
      strides.assign(dense.strides().begin(), dense.strides().end());
    }
    const bool empty = Layout::Contiguous(shape)->num_elements() == 0;
    for (int64_t i = 0; i < rank; ++i) {
      if (empty || shape[i] == 1) strides[i] = Below(2) == 0 ? INT64_MAX : INT64_MIN;
    }
    return *Layout::Strided(shape, strides);
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomLayouts, testing::Range(0u, 8u));

TEST_P(RandomLayouts, IndexingTakesTheElementsThatPythonWould) {
  for (int round = 0; round < 500; ++round) {
    const Layout layout = Make();
    std::vector<IndexItem> items;
    std::vector<Dims> taken;  // which indices of each dimension
    for (int d = 0; d < layout.rank(); ++d) {
      const int64_t size = layout.shape(d);
      Dims indices;
      if (Below(4) == 0) items.push_back(IndexItem::NewAxis());
      if (Below(3) == 0 && size > 0) {
        indices.push_back(Below(size));
        items.push_back(IndexItem::At(indices[0] - (Below(2) == 0 ? size : 0)));
      } else {
        const int64_t step = 1 + Below(3), first = Below(size + 1);
        const bool back = Below(2) == 0;
        if (back) {
          for (int64_t i = size - 1 - first; i >= 0; i -= step) indices.push_back(i);
          // An empty range starts before the first element, since -1 would count from the end.
          const auto start =
              first < size ? std::optional(size - 1 - first) : std::optional(-size - 1);
          items.push_back(IndexItem::Range({.start = start, .step = -step}));
        } else {
          for (int64_t i = first; i < size; i += step) indices.push_back(i);
          items.push_back(IndexItem::Range({.start = first, .step = step}));
        }
      }
      taken.push_back(indices);
    }
    Dims expected = {0};
    for (int d = 0; d < layout.rank(); ++d) {
      Dims longer;
      for (int64_t base : expected) {
        for (int64_t i : taken[d]) {
          // Wraps around only if the result has no elements.
          const auto along = static_cast<uint64_t>(WrappingMultiply(i, layout.stride(d)));
          longer.push_back(static_cast<int64_t>(static_cast<uint64_t>(base) + along));
        }
      }
      expected = longer;
    }
    LayoutView view;
    ASSERT_TRUE(Index(layout, items, &view).ok());
    ASSERT_EQ(Offsets(view.layout, view.offset), expected) << layout << " to " << view.layout;
  }
}

TEST_P(RandomLayouts, PermutingMovesDimensionsAndNoElements) {
  for (int round = 0; round < 500; ++round) {
    const Layout layout = Make();
    Dims order(layout.rank()), back(layout.rank());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int i = 0; i < layout.rank(); ++i) back[order[i]] = i;
    LayoutView view, again;
    ASSERT_TRUE(Permute(layout, order, &view).ok());
    for (int i = 0; i < layout.rank(); ++i) {
      ASSERT_EQ(view.layout.shape(i), layout.shape(order[i]));
      ASSERT_EQ(view.layout.stride(i), layout.stride(order[i]));
    }
    ASSERT_TRUE(Permute(view.layout, back, &again).ok());
    ASSERT_EQ(again.layout, layout);
  }
}

TEST_P(RandomLayouts, BroadcastingRepeatsElementsInPlace) {
  for (int round = 0; round < 500; ++round) {
    const Layout layout = Make();
    Dims shape(Below(2), 2);
    shape.insert(shape.end(), layout.shape().begin(), layout.shape().end());
    for (int64_t& size : shape) {
      if (size == 1) size = Below(3);
    }
    LayoutView view;
    ASSERT_TRUE(BroadcastTo(layout, shape, &view).ok());
    const Dims from = Offsets(layout), to = Offsets(view.layout);
    // For each element: drop the leading indices and those of repeated dimensions.
    for (int64_t i = 0; i < static_cast<int64_t>(to.size()); ++i) {
      int64_t rest = i, at = 0, step = 1;
      for (int d = layout.rank() - 1, v = view.layout.rank() - 1; d >= 0; --d, --v) {
        at += (layout.shape(d) == 1 ? 0 : rest % view.layout.shape(v)) * step;
        rest /= view.layout.shape(v);
        step *= layout.shape(d);
      }
      ASSERT_EQ(to[i], from[at]);
    }
  }
}

// A random factorisation of n, with some factors of one.
Dims Factors(int64_t n, std::mt19937* random) {
  Dims factors;
  while (n > 1) {
    int64_t f = 2;
    while (n % f != 0) ++f;
    if (!factors.empty() && (*random)() % 2 == 0) {
      factors.back() *= f;
    } else {
      factors.push_back(f);
    }
    n /= f;
    if ((*random)() % 4 == 0) factors.push_back(1);
  }
  std::shuffle(factors.begin(), factors.end(), *random);
  return factors;
}

// Whether any strides give `offsets` in this shape. The first step along a dimension determines its
// stride.
bool IsViewable(const Dims& offsets, const Dims& shape) {
  Dims strides(shape.size());
  int64_t step = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    strides[d] = shape[d] > 1 ? offsets[step] - offsets[0] : 0;
    step *= shape[d];
  }
  return Offsets(*Layout::Strided(shape, strides), offsets[0]) == offsets;
}

TEST_P(RandomLayouts, ReshapingKeepsTheOrderOfElementsAndFailsOnlyIfNoStridesFit) {
  int views = 0, refusals = 0;
  for (int round = 0; round < 1500; ++round) {
    const Layout layout = Make();
    const int64_t n = layout.num_elements();
    Dims shape = n == 0 ? Dims{0, 3} : Factors(n, &random);
    Dims asked = shape;
    if (n != 0 && !asked.empty() && Below(2) == 0) asked[Below(asked.size())] = -1;
    LayoutView view;
    absl::Status status = Reshape(layout, asked, &view);
    if (status.ok()) {
      ASSERT_EQ(Dims(view.layout.shape().begin(), view.layout.shape().end()), shape);
      ASSERT_EQ(Offsets(view.layout, view.offset), Offsets(layout)) << layout;
      ++views;
    } else {
      ASSERT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
      ASSERT_FALSE(IsViewable(Offsets(layout), shape)) << layout << " to " << ShapeToString(shape);
      ++refusals;
    }
  }
  EXPECT_GT(views, 100);
  EXPECT_GT(refusals, 100);
}

}  // namespace
}  // namespace dovetail
