// The basis of every header of Dovetail: the required language standard, and the name of the inline
// namespace of public symbols.
//
//   namespace dovetail {
//   inline namespace DOVETAIL_ABI { ... }
//   }
//
// The inline namespace changes whenever the layout of a public class changes. Two releases of
// Dovetail in one process then fail to link or stay separate; they never mix.

#ifndef DOVETAIL_CORE_CONFIG_H_
#define DOVETAIL_CORE_CONFIG_H_

#if __cplusplus < 202002L
#error "Dovetail needs C++20: add --cxxopt=-std=c++20 and --host_cxxopt=-std=c++20 to .bazelrc."
#include "dovetail needs C++20"  // no such file: the compiler stops here
#endif

#define DOVETAIL_ABI v0

// Marks inline variables of class or array type, and variable templates. g++ makes them unique in
// the whole process (STB_GNU_UNIQUE), even across shared objects: two copies of Dovetail, perhaps
// of two versions, would share one variable. With hidden visibility each shared object has its own.
// State outside of templates is defined in a .cc file instead. Also marks functions of which each
// shared object must call its own.
#define DOVETAIL_NOT_SHARED [[gnu::visibility("hidden")]]

#endif  // DOVETAIL_CORE_CONFIG_H_
