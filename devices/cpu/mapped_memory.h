// Memory of large tensors: each has a mapping of its own on huge pages. The process caches the
// mappings freed last.
//
//   void* data = AllocateMapped(10 << 20);     // aligned to 2 MiB; or nullptr
//   FreeMapped(data, 10 << 20);                // cached for reuse, or unmapped
//
// The system fills the pages of a new mapping with zeros at the first write. That takes longer than
// copying into them, so a loop that makes and drops large tensors pays for it only once.
//
// Environment variables, read once:
//   DOVETAIL_CPU_LARGE_CACHE_BYTES  the most bytes cached by the process; 64 MiB by default, 0 for
//                                   no cache. The oldest mappings go first.
//   DOVETAIL_CPU_HUGE_PAGES         0: the system is not asked for huge pages
//
// Under AddressSanitizer memory comes from malloc and nothing is cached, so that it reports uses
// after free and beyond the end.

#ifndef DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_
#define DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_cpu {

inline constexpr size_t kHugePage = size_t{2} << 20;
// For fewer bytes, a mapping of their own costs more than it saves.
inline constexpr size_t kLeastMapped = 2 * kHugePage;

// nullptr if there is no memory, even after the cache is emptied. `nbytes` is kLeastMapped at
// least. Any thread. A forked child has its own copy of the mappings and of the cache.
void* AllocateMapped(size_t nbytes) noexcept;

// Frees the result of AllocateMapped(nbytes). Any thread.
void FreeMapped(void* data, size_t nbytes) noexcept;

// Whether memory of this size is never cached, so that each allocation is a new mapping of zeros.
bool IsNewMapping(size_t nbytes);

// Bytes in the cache.
int64_t MappedBytesKept();

// Returns the cache to the system, except for `keep` bytes at most.
void TrimMapped(size_t keep) noexcept;

}  // namespace internal_cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_
