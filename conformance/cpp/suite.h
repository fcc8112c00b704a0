// The DLPack conformance suite for C and C++ libraries: which rules of DLPack does a library keep,
// as a producer and as a consumer of managed tensors?
//
//   struct Mine {                                                 // a library's own functions
//     using Array = mine::Array;
//     static std::optional<Array> Make(const ArraySpec& spec);
//     static DLManagedTensorVersioned* Export(const Array& x);
//     static Array Import(DLManagedTensorVersioned* managed);
//     static Seen Look(const Array& y);
//   };
//   DLPACK_CONFORMANCE(Mine, Mine);
//
// A test that depends on @dovetail//conformance/cpp:suite has these lines. The suite needs
// GoogleTest and dlpack.h alone. It is for C++17 and later, on systems with fork().
// conformance/README.md has a complete example.
//
// The functions of the class; all are static, and may take Array by value or by reference:
//
//   Make          makes an array as ArraySpec says (array.h). Refuses what the library has
//                 not. For producers.
//   Export        exports an array. The result lives on its own: the array may die.
//   ExportLegacy  the same, as a DLManagedTensor
//   ExportCopy    exports a copy of an array, which is the consumer's own
//   Import        takes a tensor in. It owns the tensor if it succeeds.
//   ImportLegacy  the same, of a DLManagedTensor
//   Look          says what an array has: type, address, shape, strides. For consumers.
//   Write         sets every element of an array to any other value. Refuses if it is read-only.
//
// and constants, which are false if the class has none:
//
//   kPassesOnTypes    it takes tensors of any type in, and only passes them on
//   kPassesOnDevices  it takes tensors on any device in, and only passes them on
//
// A class has at least one export or import. A rule that needs another function is skipped. A
// function refuses by an exception, or by its result: a null pointer, an empty std::optional, a
// Status or StatusOr that is not ok(), false. What an export returns may be a std::unique_ptr; the
// Array of a library in C is one, with the library's function that frees it.
//
// Each test checks one rule in one case, in a child process of its own: a crash fails that test. A
// failure shows the rule and the document that states it, what was seen, and the struct's fields
// and bytes. In a debugger: `set follow-fork-mode child`.

#ifndef DLPACK_CONFORMANCE_SUITE_H_
#define DLPACK_CONFORMANCE_SUITE_H_

#include <memory>
#include <vector>

#include "dlpack_conformance/adapt.h"
#include "dlpack_conformance/array.h"
#include "dlpack_conformance/register.h"

// DLPACK_CONFORMANCE registers the tests of the class `Class` as `name`. What follows is
// the list of known faults, which may be absent:
//
//   DLPACK_CONFORMANCE(Mine, Mine, {{"consumer.null-data", "the caller checks it"}});
#define DLPACK_CONFORMANCE(name, Class, ...)                                         \
  [[maybe_unused]] static const int dlpack_conformance_of_##name =                   \
      ::dlpack_conformance::RegisterDLPackConformance(                               \
          #name, std::make_shared<::dlpack_conformance::internal::Adapted<Class>>(), \
          std::vector<::dlpack_conformance::KnownFault>(__VA_ARGS__), __FILE__, __LINE__)

#endif  // DLPACK_CONFORMANCE_SUITE_H_
