// What an x86-64 processor is and can do, as CPUID tells.
//
//   if (ThisX86Processor().avx2) …
//
// It does not use __builtin_cpu_supports: some compilers' runtime libraries answer "no" to
// everything, and clang's has no F16C. Any thread; nothing fails. Defined on x86-64 alone.

#ifndef DOVETAIL_DEVICES_CPU_X86_PROCESSOR_H_
#define DOVETAIL_DEVICES_CPU_X86_PROCESSOR_H_

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct X86Processor {
  bool is_amd = false;
  int family = 0;  // the vendor's number: 0x17 and 0x19 are AMD's Zen to Zen 4
  // Instructions that the operating system supports, too.
  bool ssse3 = false;
  bool avx2 = false;         // with FMA, F16C and BMI2
  bool avx512 = false;       // F, BW, DQ, VL, and avx2
  bool avx512_vbmi = false;  // and avx512
};

// Looked up once, because CPUID takes about ten microseconds under a hypervisor.
const X86Processor& ThisX86Processor();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_X86_PROCESSOR_H_
