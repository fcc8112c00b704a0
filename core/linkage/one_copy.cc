#include "dovetail/core/linkage/one_copy.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#define DOVETAIL_TEXT(name) #name
#define DOVETAIL_TEXT_OF(name) DOVETAIL_TEXT(name)

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_linkage {
namespace {

// The file of the shared object, or of the program, that has this address.
const char* FileOf(const char* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

}  // namespace

const char copy = 0;

const char* CalledCopy() { return &copy; }

void EndForTwoCopies(const char* own, const char* called) {
  std::fprintf(
      stderr,
      "Two copies of Dovetail (namespace %s) would share half of their state: %s has one "
      "linked in, but calls the functions of %s. Give one of them a namespace of its own "
      "(build it with --@dovetail//:inline_namespace=NAME), or hide its symbols (by a version "
      "script of the linker), or make it call its own (-Wl,-Bsymbolic).\n",
      DOVETAIL_TEXT_OF(DOVETAIL_ABI), FileOf(own), FileOf(called));
  std::abort();
}

}  // namespace internal_linkage
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
