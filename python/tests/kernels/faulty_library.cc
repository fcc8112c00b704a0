// Libraries of other versions of the interface, and one that is no kernel library.

#include "dovetail/python/kernels/kernel_abi.h"

#ifdef HAS_LIBRARY
namespace {
void SetHost(const DovetailKernelHost*) {}
const DovetailKernelLibrary library = {sizeof(library), MAJOR, MINOR, nullptr, &SetHost};
}  // namespace
extern "C" const DovetailKernelLibrary* DovetailKernelLibraryOf() { return &library; }
#endif
