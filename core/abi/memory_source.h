// Conversions between MemorySource and the C struct of core/abi/allocator_abi.h.
//
//   absl::StatusOr<std::unique_ptr<MemorySource>> source = ImportMemorySource(c);
//   absl::Status s = Registry::Global().SetMemorySource(device, kind, *std::move(source));
//
// The source may be called on any thread if the struct's functions may.

#ifndef DOVETAIL_CORE_ABI_MEMORY_SOURCE_H_
#define DOVETAIL_CORE_ABI_MEMORY_SOURCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "dovetail/core/abi/allocator_abi.h"
#include "dovetail/core/config.h"
#include "dovetail/core/memory_source.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Copies the struct; the source's destructor calls its `release`. InvalidArgument for another major
// version, a struct that is too short, or one that lacks a function; the caller then keeps the
// struct.
absl::StatusOr<std::unique_ptr<MemorySource>> ImportMemorySource(const DovetailAllocator* c);

// Lends `source`, which must outlive the struct's use: without a `release`.
DovetailAllocator LendMemorySource(MemorySource& source);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_ABI_MEMORY_SOURCE_H_
