// Compiles a part of a file for instructions that the rest of the program must not use.
//
//   DOVETAIL_BEGIN_TARGET("avx2")
//   namespace avx2 { … }           // nothing here may run unless the machine has AVX2
//   DOVETAIL_END_TARGET
//
// Do not include a header between the two: the linker could keep an inline function compiled for
// these instructions for the whole program.

#ifndef DOVETAIL_DEVICES_CPU_COPY_KERNELS_COMPILE_FOR_H_
#define DOVETAIL_DEVICES_CPU_COPY_KERNELS_COMPILE_FOR_H_

#define DOVETAIL_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define DOVETAIL_BEGIN_TARGET(name) \
  DOVETAIL_PRAGMA(clang attribute push(__attribute__((target(name))), apply_to = function))
#define DOVETAIL_END_TARGET _Pragma("clang attribute pop")
#else
#define DOVETAIL_BEGIN_TARGET(name) _Pragma("GCC push_options") DOVETAIL_PRAGMA(GCC target(name))
#define DOVETAIL_END_TARGET _Pragma("GCC pop_options")
#endif

#endif  // DOVETAIL_DEVICES_CPU_COPY_KERNELS_COMPILE_FOR_H_
