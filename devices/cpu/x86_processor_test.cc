#include "dovetail/devices/cpu/x86_processor.h"

#include <gtest/gtest.h>

// The compilers' own answers, of which g++'s and clang's are right.
#if defined(__x86_64__)

namespace dovetail {
namespace {

TEST(X86ProcessorTest, InstructionsAreThoseThatTheCompilersRuntimeFinds) {
  __builtin_cpu_init();
  const X86Processor& found = ThisX86Processor();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(found.ssse3, __builtin_cpu_supports("ssse3") != 0);
  EXPECT_EQ(found.avx2, avx2);  // every processor with AVX2 has F16C
  EXPECT_EQ(found.avx512, avx512);
  EXPECT_EQ(found.avx512_vbmi, avx512 && __builtin_cpu_supports("avx512vbmi"));
}

TEST(X86ProcessorTest, VendorAndFamilyAreThoseThatTheCompilersRuntimeFinds) {
  __builtin_cpu_init();
  const X86Processor& found = ThisX86Processor();
  EXPECT_EQ(found.is_amd, __builtin_cpu_is("amd") != 0);
  EXPECT_EQ(found.is_amd && found.family == 0x17, __builtin_cpu_is("amdfam17h") != 0);
  EXPECT_EQ(found.is_amd && found.family == 0x19, __builtin_cpu_is("amdfam19h") != 0);
  EXPECT_NE(found.family, 0);
}

}  // namespace
}  // namespace dovetail

#endif
