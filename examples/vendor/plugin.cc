// The same backend as a plugin: a shared object that exports it as a C struct. No C++ type crosses
// the boundary, so the two sides can be built by different compilers and against different versions
// of Dovetail and abseil.

#include "backend.h"
#include "dovetail/core/abi/export.h"

// The caller owns the struct and must call its `release`. NULL if memory runs out.
extern "C" __attribute__((visibility("default"))) DovetailBackend* vendor_backend() {
  try {
    return dovetail::ExportBackend(vendor::MakeVendorBackend());
  } catch (...) {
    return nullptr;
  }
}
