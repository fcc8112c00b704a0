#include "dovetail/devices/cpu/cast/complex.h"

#include <cstdint>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

template <typename T>
struct Pair {
  T real, imaginary;
};

// Tests the bits of a part, which are 0 for a value of 0.
template <typename T>
struct PairOp {
  using In = T;
  using Out = Pair<T>;
  static Pair<T> Do(T x) { return {x, T{0}}; }
};

template <typename T>
struct TruthOfPairOp {
  using In = Pair<T>;
  using Out = uint8_t;
  static uint8_t Do(Pair<T> x) { return (x.real != 0) | (x.imaginary != 0); }
};

}  // namespace

CastStep RealToComplexStep(DType part, SimdLevel level) {
  switch (part.bits) {
    case 16:
      return StepAt<PairOp<uint16_t>, /*kWide=*/false>(level);
    case 32:
      return StepAt<PairOp<uint32_t>, /*kWide=*/false>(level);
    default:
      return StepAt<PairOp<uint64_t>, /*kWide=*/false>(level);
  }
}

CastStep ComplexToBoolStep(DType complex, SimdLevel level) {
  return complex == kComplex64 ? StepAt<TruthOfPairOp<float>, /*kWide=*/false>(level)
                               : StepAt<TruthOfPairOp<double>, /*kWide=*/false>(level);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
