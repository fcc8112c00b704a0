// Kernels as people write them, over tensors of any library.
//
// They show a type out of several (OneOf), sizes with names, results that are made or given (Out),
// results in place (InOut), lists of tensors, rows and threads. library.cc makes a kernel library
// of them, for every Python and PyTorch; kernels.cc binds them by nanobind, for one version of
// Python.

#ifndef DOVETAIL_EXAMPLES_KERNELS_FUNCTIONS_H_
#define DOVETAIL_EXAMPLES_KERNELS_FUNCTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "dovetail/core/freestanding/narrow_floats.h"
#include "dovetail/python/arg.h"
#include "dovetail/python/args/one_of.h"
#include "dovetail/python/args/out.h"
#include "dovetail/python/args/parallel_for.h"
#include "dovetail/python/args/reduce.h"
#include "dovetail/python/args/rows.h"
#include "dovetail/python/owned_tensor.h"

namespace examples {

using dovetail::AllowCopy;
using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::Dispatch;
using dovetail::InnerContiguous;
using dovetail::InOut;
using dovetail::NoOverlap;
using dovetail::Out;
using dovetail::OwnedTensor;
using dovetail::Row;
using dovetail::Shape;
using dovetail::Twice;

using Real = dovetail::OneOf<"T", float, dovetail::float16, dovetail::bfloat16>;
using Index = dovetail::OneOf<"I", int64_t, int32_t>;

// y = factor * x
inline void Scale(Arg<const Real, Shape<"n">> x, double factor, Out<Real, Shape<"n">> y) {
  Dispatch(x, [&]<class T>() {
    const auto in = x.view<T>();
    const auto out = y.view<T>();
    for (int64_t i = 0; i < in.size(); ++i) out(i) = static_cast<T>(factor * in(i));
  });
}

// y = x / sqrt(mean(x²) + eps) * weight, over the last dimension.
inline void RmsNorm(Arg<const Real, Shape<"...", "n">, InnerContiguous> x,
                    Arg<const Real, Shape<"n">, Contiguous> weight, double eps,
                    Out<Real, Shape<"...", "n">, InnerContiguous> y) {
  Rows(x, y, [&]<class T>(Row<const T> in, Row<T> out) {
    const Row<const T> weights(weight.view<T>().data(), in.size());
    const float squares = Sum(in, [](float v) { return v * v; });
    const float scale = 1 / std::sqrt(squares / in.size() + static_cast<float>(eps));
    Transform(in, weights, out, [=](float v, float w) { return v * scale * w; });
  });
}

// Turns the pairs (x[k], x[k + half]) of the last dimension by the angles of the position.
inline void Rotate(InOut<Real, Shape<"batch", "heads", "positions", Twice<"half">>> x,
                   Arg<const float, Shape<"positions", "half">> cosine,
                   Arg<const float, Shape<"positions", "half">> sine) {
  Dispatch(x, [&]<class T>() {
    const auto v = x.view<T>();
    dovetail::ParallelFor(v.shape(0) * v.shape(1), 1, [&, v](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / v.shape(1), h = i % v.shape(1), half = cosine.shape<"half">();
        for (int64_t s = 0; s < v.shape(2); ++s) {
          for (int64_t k = 0; k < half; ++k) {
            const float first = v(b, h, s, k), second = v(b, h, s, k + half);
            v(b, h, s, k) = first * cosine(s, k) - second * sine(s, k);
            v(b, h, s, k + half) = second * cosine(s, k) + first * sine(s, k);
          }
        }
      }
    });
  });
}

// y[b, n] = pages[table[b, n]], as in a paged cache of keys and values.
inline void GatherPages(Arg<const Real, Shape<"pages", "slots", "width">, Contiguous> pages,
                        Arg<const Index, Shape<"batch", "n">> table,
                        Out<Real, Shape<"batch", "n", "slots", "width">, Contiguous, NoOverlap> y) {
  Dispatch(pages, [&]<class T>() {
    Dispatch(table, [&]<class I>() {
      const auto from = pages.view<T>();
      const auto indices = table.view<I>();
      T* to = y.view<T>().data();
      const int64_t page_size = from.shape(1) * from.shape(2);
      for (int64_t b = 0; b < indices.shape(0); ++b) {
        for (int64_t n = 0; n < indices.shape(1); ++n, to += page_size) {
          const int64_t page = indices(b, n);
          if (page < 0 || page >= from.shape(0)) throw std::out_of_range("table: no such page");
          std::copy_n(from.data() + page * page_size, page_size, to);
        }
      }
    });
  });
}

// The largest element of each row, the first of equal ones, and where it is.
inline void MaxOfRows(Arg<const Real, Shape<"...", "n">, InnerContiguous> x,
                      Out<Real, Shape<"...">, Contiguous> values,
                      Out<Index, Shape<"...">, Contiguous> indices) {
  if (x.shape<"n">() == 0) throw std::invalid_argument("rows without elements have no maximum");
  Dispatch(x, [&]<class T>() {
    Dispatch(indices, [&]<class I>() {
      T* value = values.view<T>().data();
      I* index = indices.view<I>().data();
      for (auto [row] : dovetail::RowsAs<T>(x)) {
        const T* const largest = std::max_element(row.begin(), row.end());
        *value++ = *largest;
        *index++ = static_cast<I>(largest - row.begin());
      }
    });
  });
}

// Two numbers of four bits in a byte, the low one first, scaled by row: y = scale * (x - 8).
inline void DequantizeInt4(Arg<const uint8_t, Shape<"rows", "bytes">, InnerContiguous> packed,
                           Arg<const float, Shape<"rows">> scale,
                           Out<Real, Shape<"rows", Twice<"bytes">>, InnerContiguous> y) {
  Dispatch(y, [&]<class T>() {
    int64_t row = 0;
    for (auto [in, out] : dovetail::RowsAs<T>(packed, y)) {
      const float factor = scale(row++);
      for (int64_t i = 0; i < in.size(); ++i) {
        out[2 * i] = factor * static_cast<float>((in[i] & 15) - 8);
        out[2 * i + 1] = factor * static_cast<float>((in[i] >> 4) - 8);
      }
    }
  });
}

// All elements in one row. The size of the result depends on the list, so that it is an
// OwnedTensor.
inline OwnedTensor Flatten(const std::vector<Arg<const Real, Contiguous, AllowCopy>>& tensors,
                           double scale) {
  if (tensors.empty()) throw std::invalid_argument("an empty list has no element type");
  int64_t size = 0;
  for (const auto& tensor : tensors) size += tensor.size();
  return Dispatch(tensors[0], [&]<class T>() {
    OwnedTensor result = dovetail::Empty<T>({size});
    T* to = result.data<T>();
    for (const auto& tensor : tensors) {
      const auto from = tensor.template view<T>();
      Transform(Row(from.data(), from.size()), Row(to, from.size()),
                [=](float v) { return v * static_cast<float>(scale); });
      to += from.size();
    }
    return result;
  });
}

}  // namespace examples

#endif  // DOVETAIL_EXAMPLES_KERNELS_FUNCTIONS_H_
