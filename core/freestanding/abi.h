// The name of the inline namespace of public symbols, in C++17 and without the standard library.
//
//   namespace dovetail {
//   inline namespace DOVETAIL_ABI { ... }
//   }
//
// It changes whenever the layout of a public class changes. Two releases of Dovetail in one process
// then fail to link or stay separate; they never mix. A program that embeds Dovetail can name it,
// so that it does not mix with another program's copy of the same release either:
// --@dovetail//:inline_namespace=my_product, which defines DOVETAIL_INLINE_NAMESPACE for all of its
// build, makes it v0_my_product.

#ifndef DOVETAIL_CORE_FREESTANDING_ABI_H_
#define DOVETAIL_CORE_FREESTANDING_ABI_H_

#define DOVETAIL_ABI_VERSION v0
#ifdef DOVETAIL_INLINE_NAMESPACE
#define DOVETAIL_JOIN(version, name) version##_##name
#define DOVETAIL_JOIN_OF(version, name) DOVETAIL_JOIN(version, name)
#define DOVETAIL_ABI DOVETAIL_JOIN_OF(DOVETAIL_ABI_VERSION, DOVETAIL_INLINE_NAMESPACE)
#else
#define DOVETAIL_ABI DOVETAIL_ABI_VERSION
#endif

// Marks inline variables of class or array type, and variable templates. g++ makes them unique in
// the whole process (STB_GNU_UNIQUE), even across shared objects: two copies of Dovetail, perhaps
// of two versions, would share one variable. With hidden visibility each shared object has its own.
// State outside of templates is defined in a .cc file instead. Also marks functions of which each
// shared object must call its own.
#define DOVETAIL_NOT_SHARED [[gnu::visibility("hidden")]]

#endif  // DOVETAIL_CORE_FREESTANDING_ABI_H_
