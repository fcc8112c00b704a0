// The same backend in a shared object of its own, which hands it over as a C struct: no C++ type
// crosses, so that the two sides may be built by different compilers, against different versions of
// Dovetail and of abseil.

#include "dovetail/core/abi/export.h"
#include "dovetail/examples/vendor/backend.h"

// Whoever takes the struct calls its release. NULL where memory runs out.
extern "C" __attribute__((visibility("default"))) DovetailBackend* vendor_backend() {
  try {
    return dovetail::ExportBackend(vendor::MakeVendorBackend());
  } catch (...) {
    return nullptr;
  }
}
