// The basis of every header of Dovetail but those of core/freestanding: the required language
// standard, and the name of the inline namespace of public symbols (core/freestanding/abi.h).

#ifndef DOVETAIL_CORE_CONFIG_H_
#define DOVETAIL_CORE_CONFIG_H_

#if __cplusplus < 202002L
#error "Dovetail needs C++20: -std=c++20 (Bazel: --cxxopt and --host_cxxopt; CMake: cxx_std_20)."
#include "dovetail needs C++20"  // no such file: the compiler stops here
#endif

#include "dovetail/core/freestanding/abi.h"

#endif  // DOVETAIL_CORE_CONFIG_H_
