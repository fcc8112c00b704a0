#include "dovetail/devices/cpu/x86_processor.h"

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr bool Has(unsigned bits, unsigned all) { return (bits & all) == all; }

// The parts of a thread's state that the operating system saves: bits of the register XCR0.
constexpr unsigned kAvxState = 0x6;      // XMM and YMM registers
constexpr unsigned kAvx512State = 0xe6;  // and masks, ZMM registers
unsigned SavedState() {
  uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

X86Processor Ask() {
  X86Processor found;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return found;
  found.is_amd = b == signature_AMD_ebx;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  found.family = static_cast<int>(a >> 8 & 0xf);
  if (found.family == 0xf) found.family += static_cast<int>(a >> 20 & 0xff);
  found.ssse3 = Has(c, bit_SSSE3);
  const bool has_avx_parts = Has(c, bit_AVX | bit_FMA | bit_F16C);
  const unsigned saved = Has(c, bit_OSXSAVE) ? SavedState() : 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  found.avx2 = has_avx_parts && Has(b, bit_AVX2 | bit_BMI2) && Has(saved, kAvxState);
  found.avx512 = found.avx2 && Has(saved, kAvx512State) &&
                 Has(b, bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL);
  found.avx512_vbmi = found.avx512 && Has(c, bit_AVX512VBMI);
  return found;
}

}  // namespace

const X86Processor& ThisX86Processor() {
  static const X86Processor found = Ask();
  return found;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif
