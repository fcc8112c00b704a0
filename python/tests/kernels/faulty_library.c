// Libraries that the package must refuse, by the macro FAULT.

#include "dovetail/python/kernels/abi.h"

#ifdef HAS_LIBRARY
static void SetHost(const DovetailKernelHost* host) { (void)host; }
static const DovetailKernelLibrary library = {sizeof(library), MAJOR, MINOR, NULL, SetHost};
const DovetailKernelLibrary* DovetailKernelLibraryOf(void) { return &library; }
#else
int NothingOfKernels(void) { return 0; }
#endif
