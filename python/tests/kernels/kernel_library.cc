// A kernel for each kind of parameter and result.

#include <cmath>
#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "dovetail/kernels.h"

using dovetail::Arg;
using dovetail::Contiguous;
using dovetail::Dispatch;
using dovetail::InnerContiguous;
using dovetail::InOut;
using dovetail::NoOverlap;
using dovetail::Out;
using dovetail::OwnedTensor;
using dovetail::Shape;
using dovetail::SizeArg;
using dovetail::Twice;
using Real = dovetail::OneOf<"T", float, double, dovetail::float16, dovetail::bfloat16>;
using Vector = Arg<const float, Shape<"n">>;

namespace kernels {

void scale_add(Vector x, Vector y, double a, Out<float, Shape<"n">> out) {
  for (int64_t i = 0; i < out.size(); ++i) out(i) = static_cast<float>(a) * x(i) + y(i);
}
DOVETAIL_KERNEL(scale_add, "x", "y", "a", "out");

// What it got, as numbers: each kind of parameter that is no tensor.
void echo(Vector x, double number, float single, int32_t narrow, uint8_t byte, bool flag,
          const std::string& text, std::string_view view, const std::vector<int64_t>& ints,
          const std::vector<double>& floats, std::optional<double> maybe,
          std::optional<std::string> word, Out<double, Shape<12>> out) {
  double sum = 0;
  for (int64_t i : ints) sum += static_cast<double>(i);
  for (double f : floats) sum += f;
  const double all[] = {number,
                        single,
                        static_cast<double>(narrow),
                        static_cast<double>(byte),
                        flag ? 1.0 : 0.0,
                        static_cast<double>(text.size()),
                        static_cast<double>(view.size()),
                        static_cast<double>(ints.size()),
                        static_cast<double>(floats.size()),
                        sum,
                        maybe.value_or(-1),
                        word ? static_cast<double>(word->size()) : -1.0};
  for (int64_t i = 0; i < 12; ++i) out(i) = all[i];
  (void)x;
}
DOVETAIL_KERNEL_DOC(echo, "What it got, as numbers.", "x", "number=0.5", "single=2", "narrow=-3",
                    "byte=4", "flag=True", "text='ab'", "*", "view=\"abc\"", "ints", "floats",
                    "maybe=None", "word=None", "out");

// The sum of those that are there, one after the other.
void total(const std::vector<Arg<const float, Shape<"n">, Contiguous>>& xs,
           std::optional<Arg<const float, Shape<"n">>> bias,
           Out<float, Shape<"n">, Contiguous> out) {
  for (int64_t i = 0; i < out.size(); ++i) {
    out[i] = bias ? (*bias)(i) : 0;
    for (const auto& x : xs) out[i] += x[i];
  }
}
DOVETAIL_KERNEL(total, "xs", "bias=None", "out");

void increment(InOut<Real, Shape<"n">> x, int64_t by) {
  Dispatch(x, [&]<class T>() {
    const auto v = x.view<T>();
    for (int64_t i = 0; i < v.size(); ++i) v(i) = static_cast<T>(static_cast<double>(v(i)) + by);
  });
}
DOVETAIL_KERNEL(increment, "x", "by=1");

void first_of(Arg<const Real, Shape<"...", "n">, InnerContiguous> x, SizeArg<"k"> k,
              Out<Real, Shape<"...", "k">, InnerContiguous> values,
              Out<int64_t, Shape<"...", "k">, Contiguous> indices) {
  if (k > x.shape<"n">()) throw std::invalid_argument("there are fewer");
  Dispatch(x, [&]<class T>() {
    int64_t* index = indices.data();
    for (auto [in, out] : dovetail::RowsAs<T>(x, values)) {
      for (int64_t i = 0; i < k; ++i) {
        out[i] = in[i];
        *index++ = i;
      }
    }
  });
}

void halves(Arg<const float, Shape<Twice<"half">>, Contiguous> x,
            Out<float, Shape<"half">, Contiguous, NoOverlap> low,
            Out<float, Shape<"half">, Contiguous> high) {
  for (int64_t i = 0; i < low.size(); ++i) {
    low[i] = x[i];
    high[i] = x[i + low.size()];
  }
}
DOVETAIL_KERNEL(halves, "x", "low", "high");

// Those above 0: how many there are depends on the data.
OwnedTensor positive(Arg<const float, Shape<"n">> x) {
  std::vector<float> found;
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x(i) > 0) found.push_back(x(i));
  }
  const auto count = static_cast<int64_t>(found.size());
  return OwnedTensor::Wrap(std::move(found), {count});
}
DOVETAIL_KERNEL(positive, "x");

std::tuple<OwnedTensor, OwnedTensor> two(Arg<const Real> x, bool is_empty) {
  if (is_empty) return {OwnedTensor(), OwnedTensor::EmptyLike(x)};
  return {OwnedTensor::EmptyLike(x), dovetail::Empty<int32_t>({2, 3})};
}
DOVETAIL_KERNEL(two, "x", "is_empty=False");

// Throws what is asked for.
void fail(Vector x, std::string_view what) {
  if (what == "value") throw std::invalid_argument("no such value");
  if (what == "index") throw std::out_of_range("no such index");
  if (what == "overflow") throw std::overflow_error("too large");
  if (what == "memory") throw std::bad_alloc();
  if (what == "other") throw 3;  // NOLINT(bugprone-std-exception-baseclass)
  if (what == "bytes") throw std::runtime_error("bad \xff");
  if (what == "thread") {
    dovetail::ParallelFor(1000, 1, [](int64_t begin, int64_t) {
      if (begin > 0) throw std::out_of_range("in a thread");
    });
  }
  if (what != "nothing") throw std::runtime_error("it failed");
  (void)x;
}
DOVETAIL_KERNEL(fail, "x", "what='nothing'");

void on_threads(Arg<const float, Shape<"n">> x, Out<float, Shape<"n">> out) {
  dovetail::ParallelFor(x.size(), 100, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out(i) = 2 * x(i);
  });
}
DOVETAIL_KERNEL(on_threads, "x", "out");

void packed(
    Arg<const float, Shape<"rows", "n">, Contiguous, dovetail::AllowCopy, dovetail::AllowCast> x,
    Out<float, Shape<"rows", "n">, Contiguous> out) {
  for (int64_t i = 0; i < x.size(); ++i) out[i] = x[i];
}
DOVETAIL_KERNEL(packed, "x", "out");

// The stream that a kernel would be launched on.
void stream_of(Arg<const float, dovetail::AnyDevice> x, dovetail::Stream stream,
               Out<int64_t, Shape<2>> out) {
  out(0) = reinterpret_cast<intptr_t>(stream.get());
  out(1) = x.device().device_type;
}
DOVETAIL_KERNEL(stream_of, "x", "out");

// The same as an error, for a kernel of which nothing is in host memory.
void say_stream(Arg<const float, Shape<"n">, dovetail::AnyDevice> x, dovetail::Stream stream,
                Out<float, Shape<"n">, dovetail::AnyDevice>) {
  throw std::runtime_error("stream " + std::to_string(reinterpret_cast<intptr_t>(stream.get())) +
                           " of device " + std::to_string(x.device().device_type) + ":" +
                           std::to_string(x.device().device_id));
}
DOVETAIL_KERNEL(say_stream, "x", "out");

using Narrow = dovetail::OneOf<"T", float, dovetail::float16>;

void cast(Arg<const Narrow, Shape<"n">, dovetail::AllowCast> x, Out<Narrow, Shape<"n">> out) {
  Dispatch(x, [&]<class T>() {
    const auto in = x.view<T>();
    const auto result = out.view<T>();
    for (int64_t i = 0; i < in.size(); ++i) result(i) = in(i);
  });
}
DOVETAIL_KERNEL(cast, "x", "out");

void count_to(SizeArg<"n"> n, Out<int64_t, Shape<"n">> out) {
  for (int64_t i = 0; i < n; ++i) out(i) = i;
}
DOVETAIL_KERNEL(count_to, "n", "out");

// Made on the device of its input; written by nobody.
void beside(Arg<const float, Shape<"n">, dovetail::AnyDevice> x,
            Out<float, Shape<"n">, dovetail::AnyDevice> out, dovetail::Stream) {
  if (out.device().device_id != x.device().device_id) throw std::logic_error("another device");
}
DOVETAIL_KERNEL(beside, "x", "out");

}  // namespace kernels

DOVETAIL_KERNEL_AS("first_of", kernels::first_of, nullptr, "x", "k", "*", "values", "indices");
