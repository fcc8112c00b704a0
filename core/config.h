// The basis of every header of Dovetail but those of core/freestanding: the required language
// standard, and the name of the inline namespace of public symbols (core/freestanding/abi.h).

#ifndef DOVETAIL_CORE_CONFIG_H_
#define DOVETAIL_CORE_CONFIG_H_

#if __cplusplus < 202002L
#error "Dovetail needs C++20: add --cxxopt=-std=c++20 and --host_cxxopt=-std=c++20 to .bazelrc."
#include "dovetail needs C++20"  // no such file: the compiler stops here
#endif

#include "dovetail/core/freestanding/abi.h"

#endif  // DOVETAIL_CORE_CONFIG_H_
