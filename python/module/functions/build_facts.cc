#include "dovetail/python/module/functions/functions.h"

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "dovetail/core/abi/backend_abi.h"
#include "dovetail/devices/cpu/simd_level.h"
#include "dovetail/devices/cpu/simd_names.h"
#include "dovetail/python/capi.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

#define DOVETAIL_TEXT(x) #x
#define DOVETAIL_TEXT_OF(x) DOVETAIL_TEXT(x)

nb::object Text(std::string_view text) { return nb::str(text.data(), text.size()); }

// __VERSION__ of g++ has no name.
std::string Compiler() {
#if defined(__clang__)
  return "clang " DOVETAIL_TEXT_OF(__clang_major__) "." DOVETAIL_TEXT_OF(
      __clang_minor__) "." DOVETAIL_TEXT_OF(__clang_patchlevel__);
#else
  return "g++ " __VERSION__;
#endif
}

std::string StandardLibrary() {
#if defined(_LIBCPP_VERSION)
  return "libc++ " DOVETAIL_TEXT_OF(_LIBCPP_VERSION);
#else
  return "libstdc++ " DOVETAIL_TEXT_OF(__GLIBCXX__);
#endif
}

// The oldest glibc that it can run with is at most this one.
std::string CLibrary() {
#if defined(__GLIBC__)
  return "glibc " DOVETAIL_TEXT_OF(__GLIBC__) "." DOVETAIL_TEXT_OF(__GLIBC_MINOR__);
#else
  return "unknown";
#endif
}

}  // namespace

PyObject* BuildFactsFunction(PyObject*, PyObject*) {
  nb::list compiled;
  for (std::string_view name : CompiledSimdNames()) compiled.append(Text(name));
  nb::dict facts;
  facts["compiler"] = Text(Compiler());
  facts["standard_library"] = Text(StandardLibrary());
  facts["c_library"] = Text(CLibrary());
  facts["simd_compiled"] = compiled;
  facts["simd_in_use"] = Text(SimdName(BestSimdLevel()));
  facts["abi_namespace"] = Text(DOVETAIL_TEXT_OF(DOVETAIL_ABI));
  facts["c_api"] = nb::make_tuple(DOVETAIL_CAPI_MAJOR, DOVETAIL_CAPI_MINOR);
  facts["backend_abi"] = nb::make_tuple(DOVETAIL_BACKEND_ABI_MAJOR, DOVETAIL_BACKEND_ABI_MINOR);
  return facts.release().ptr();
}

}  // namespace dovetail::python
