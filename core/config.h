// What every other header of Dovetail rests on: the language standard that is asked for, and the
// name of the inline namespace that public symbols live in.
//
//   namespace dovetail {
//   inline namespace DOVETAIL_ABI { ... }
//   }
//
// The inline namespace changes whenever the layout of a public class does, so that two releases of
// Dovetail linked into one process fail to link, or stay apart, rather than mix.

#ifndef DOVETAIL_CORE_CONFIG_H_
#define DOVETAIL_CORE_CONFIG_H_

#if __cplusplus < 202002L
#error "Dovetail needs C++20: add --cxxopt=-std=c++20 and --host_cxxopt=-std=c++20 to .bazelrc."
#include "dovetail needs C++20"  // no such file: the compiler stops here, before errors that follow
#endif

#define DOVETAIL_ABI v0

// Before an inline variable that is more than a number, and before a template's. Those are one for
// the whole process where g++ compiles them (STB_GNU_UNIQUE), whatever shared objects they are in:
// two copies of Dovetail, perhaps of two versions, would have one between them. Hidden, each shared
// object has its own. State that is not a template's stands in a .cc file instead.
#define DOVETAIL_NOT_SHARED [[gnu::visibility("hidden")]]

#endif  // DOVETAIL_CORE_CONFIG_H_
