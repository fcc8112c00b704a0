// The functions that each extension module exports, so that only the bindings differ.
//
//   f1(out)          out += 1
//   f3(x, y, out)    out = x + y
//   f8(a … g, out)   out = a + b + … + g
//   r1, r3, r8       the same with arguments that are all read-only: a static array gets the sum
//   kept()           element 0 of that array
//
// A binding that registers C++ functions by `m.def(name, function)` calls Define():
//
//   struct Binding {
//     using In = …;   // a read-only argument
//     using Out = …;  // an argument that is written
//     static std::span<const float> Elements(const In& x);
//     static std::span<float> Elements(const Out& x);
//   };
//   Define<Binding>(m);
//
// Errors: std::invalid_argument for a tensor that has not kElements elements. GIL: held throughout.

#ifndef DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_FUNCTIONS_H_
#define DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_FUNCTIONS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>

namespace dovetail_benchmarks {

inline constexpr size_t kElements = 16;

// What the functions without an output write.
inline std::array<float, kElements> kept_sums;

inline void Increment(std::span<float> out) {
  if (out.size() != kElements) throw std::invalid_argument("not 16 elements");
  for (size_t i = 0; i < kElements; ++i) out[i] += 1;
}

template <typename... Inputs>
void AddInto(std::span<float> out, const Inputs&... inputs) {
  if (out.size() != kElements || ((inputs.size() != kElements) || ...)) {
    throw std::invalid_argument("not 16 elements");
  }
  // Does not alias the inputs, so this loop can be vectorised.
  std::array<float, kElements> sums;
  for (size_t i = 0; i < kElements; ++i) sums[i] = (inputs[i] + ...);
  std::copy(sums.begin(), sums.end(), out.begin());
}

// By value, as the documentation of each binding passes its tensors.
// NOLINTBEGIN(performance-unnecessary-value-param)
template <typename Binding>
struct Functions {
  using In = typename Binding::In;
  using Out = typename Binding::Out;

  static void F1(Out out) { Increment(Binding::Elements(out)); }
  static void F3(In x, In y, Out out) { Add(out, x, y); }
  static void F8(In a, In b, In c, In d, In e, In f, In g, Out out) {
    Add(out, a, b, c, d, e, f, g);
  }
  static void R1(In x) { Keep(x); }
  static void R3(In x, In y, In z) { Keep(x, y, z); }
  static void R8(In a, In b, In c, In d, In e, In f, In g, In h) { Keep(a, b, c, d, e, f, g, h); }
  static double Kept() { return kept_sums[0]; }

 private:
  template <typename... Inputs>
  static void Add(const Out& out, const Inputs&... inputs) {
    AddInto(Binding::Elements(out), Binding::Elements(inputs)...);
  }
  template <typename... Inputs>
  static void Keep(const Inputs&... inputs) {
    AddInto(kept_sums, Binding::Elements(inputs)...);
  }
};

// NOLINTEND(performance-unnecessary-value-param)

template <typename Binding, typename Module>
void Define(Module& m) {
  using F = Functions<Binding>;
  m.def("f1", &F::F1);
  m.def("f3", &F::F3);
  m.def("f8", &F::F8);
  m.def("r1", &F::R1);
  m.def("r3", &F::R3);
  m.def("r8", &F::R8);
  m.def("kept", &F::Kept);
}

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_ARGUMENTS_BINDINGS_FUNCTIONS_H_
