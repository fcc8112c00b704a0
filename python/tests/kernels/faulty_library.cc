// Libraries of other versions of the interface, and broken ones.

#include "dovetail/python/kernels/kernel_abi.h"

#if defined(IS_NULL)
extern "C" const DovetailKernelLibrary* DovetailKernelLibraryOf() { return nullptr; }
#elif defined(SIZE)
namespace {
void SetHost(const DovetailKernelHost*) {}
const DovetailKernelLibrary library = {SIZE, MAJOR, MINOR, nullptr, &SetHost};
}  // namespace
extern "C" const DovetailKernelLibrary* DovetailKernelLibraryOf() { return &library; }
#endif
