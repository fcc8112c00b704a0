// The mdspan library that the tests are compiled with, as the namespace md: std where the standard
// library has mdspan, otherwise cuda::std.

#ifndef DOVETAIL_INTEROP_MDSPAN_TEST_LIBRARY_H_
#define DOVETAIL_INTEROP_MDSPAN_TEST_LIBRARY_H_

#include <version>

#ifdef __cpp_lib_mdspan
#include <mdspan>  // IWYU pragma: export

#include "dovetail/interop/mdspan/export.h"  // IWYU pragma: export
#include "dovetail/interop/mdspan/import.h"  // IWYU pragma: export

namespace md = std;
#else
#include "dovetail/interop/mdspan/cuda.h"  // IWYU pragma: export

namespace md = cuda::std;
#endif

#endif  // DOVETAIL_INTEROP_MDSPAN_TEST_LIBRARY_H_
