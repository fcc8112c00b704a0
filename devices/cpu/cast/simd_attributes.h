// Attributes that compile a function, and what it inlines, for a level of vector instructions.
//
//   DOVETAIL_TARGET_AVX2 void Run(const void* src, void* dst, size_t n) { … }
//
// The caller checks HasSimdLevel() first. x86-64 only.

#ifndef DOVETAIL_DEVICES_CPU_CAST_SIMD_ATTRIBUTES_H_
#define DOVETAIL_DEVICES_CPU_CAST_SIMD_ATTRIBUTES_H_

#if defined(__x86_64__)
#define DOVETAIL_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi2")))
#define DOVETAIL_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi2"
#if defined(__clang__)
#define DOVETAIL_TARGET_AVX512 __attribute__((target(DOVETAIL_AVX512)))
#else
#define DOVETAIL_TARGET_AVX512 __attribute__((target(DOVETAIL_AVX512 ",prefer-vector-width=512")))
#endif
#endif

#endif  // DOVETAIL_DEVICES_CPU_CAST_SIMD_ATTRIBUTES_H_
