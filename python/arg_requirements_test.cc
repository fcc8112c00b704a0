// The requirements of an Arg are constants, in C++17 and in C++20: this file tests by compiling.

#include "dovetail/python/arg_requirements.h"

#include <complex>
#include <cstdint>

#include "dovetail/core/freestanding/narrow_floats.h"
#include "gtest/gtest.h"

namespace {

using dovetail::AllowCast;
using dovetail::AllowCopy;
using dovetail::Contiguous;
using dovetail::InnerContiguous;
using dovetail::Named;
using dovetail::OnCuda;
using dovetail::Rank;
using dovetail::ReadOnly;
using dovetail::Shape;
using dovetail::Strides;

template <typename... Rules>
using Facts = dovetail::internal_arg::Facts<Rules...>;
template <typename... Rules>
constexpr const DovetailRequirements& kWanted = Facts<Rules...>::kRequirements;

// Without rules: the type, host memory, the alignment of the type, and write access.
static_assert(kWanted<float>.dtype.code == kDLFloat && kWanted<float>.dtype.bits == 32);
static_assert(kWanted<float>.device_type == DOVETAIL_HOST_MEMORY);
static_assert(kWanted<float>.alignment == alignof(float));
static_assert(kWanted<float>.flags == DOVETAIL_WRITABLE);
static_assert(!Facts<float>::Sizes::kIsThere && Facts<float>::kRank == -1);

// Const takes read-only memory, and so does ReadOnly.
static_assert(kWanted<const float>.flags == 0);
static_assert(kWanted<float, ReadOnly>.flags == 0);
static_assert(Facts<float, ReadOnly>::kIsConst);

static_assert(kWanted<bool>.dtype.code == kDLBool && kWanted<bool>.dtype.bits == 8);
static_assert(kWanted<uint16_t>.dtype.code == kDLUInt && kWanted<int64_t>.dtype.code == kDLInt);
static_assert(kWanted<std::complex<float>>.dtype.code == kDLComplex);
static_assert(kWanted<std::complex<float>>.dtype.bits == 64);
static_assert(kWanted<dovetail::float16>.dtype.code == kDLFloat);
static_assert(kWanted<dovetail::float16>.dtype.bits == 16);
static_assert(kWanted<const dovetail::bfloat16>.dtype.code == kDLBfloat);
static_assert(kWanted<dovetail::float8_e4m3fn>.dtype.code == kDLFloat8_e4m3fn);
static_assert(kWanted<dovetail::float8_e5m2>.dtype.bits == 8);
static_assert(kWanted<void>.dtype.bits == 0 && kWanted<void>.alignment == 1);

// A Shape gives the rank and the sizes; names are negative and differ.
using Square = Facts<float, Shape<Named("n"), Named("n"), -1, 3>>;
static_assert(Square::kRank == 4 && Square::kRequirements.ndim == 4);
static_assert(Square::kRequirements.shape[0] == Square::kRequirements.shape[1]);
static_assert(Square::kRequirements.shape[2] == DOVETAIL_ANY_SIZE);
static_assert(Square::kRequirements.shape[3] == 3);
static_assert(Square::HasNames() && !Facts<float, Shape<-1, 3>>::HasNames());
static_assert(Named("n") == DOVETAIL_SIZE('n'), "C and C++ write the same names");
static_assert(Named("n") != Named("m") && Named("ab") != Named("ba") && Named("n") < -1);
#if __cplusplus >= 202002L
static_assert(kWanted<float, Shape<"n">>.shape[0] == Named("n"));
#endif
static_assert(Facts<float, Shape<>>::kRank == 0);

static_assert(kWanted<float, Rank<2>>.ndim == 2);
static_assert((kWanted<float, Rank<0>>.flags & DOVETAIL_NDIM) != 0);
static_assert(kWanted<float, Strides<DOVETAIL_ANY_STRIDE, 1>>.strides[1] == 1);
static_assert(Facts<float, Contiguous>::kDense == dovetail::Dense::kAll);
static_assert(Facts<float, InnerContiguous>::kDense == dovetail::Dense::kRows);
static_assert(kWanted<float, OnCuda>.device_type == kDLCUDA && !Facts<float, OnCuda>::kOnHost);
static_assert(kWanted<float, dovetail::Aligned<64>>.alignment == 64);
static_assert(kWanted<const float, AllowCopy, AllowCast>.flags ==
              (DOVETAIL_ALLOW_COPY | DOVETAIL_ALLOW_CAST));

TEST(ArgRequirementsTest, AreConstants) {
  constexpr DovetailRequirements kCopy = kWanted<const float, Rank<2>, AllowCopy>;
  EXPECT_EQ(kCopy.flags, uint32_t{DOVETAIL_NDIM} | uint32_t{DOVETAIL_ALLOW_COPY});
}

}  // namespace
