// The memory of large tensors: mappings of their own, on huge pages, of which the process keeps
// some of those freed last.
//
//   void* data = AllocateMapped(10 << 20);     // aligned to 2 MiB; or nullptr
//   FreeMapped(data, 10 << 20);                // kept for the next of about that size, or unmapped
//
// The pages of a new mapping are filled with zeros when they are first written to, which takes
// longer than to copy as much into them: a loop that makes and drops large tensors pays for that
// once. At most DOVETAIL_CPU_LARGE_CACHE_BYTES (an environment variable, read once; 64 MiB unless
// set, 0 for none) are kept by all threads together; the oldest go first. Unless
// DOVETAIL_CPU_HUGE_PAGES is 0, the system is asked for huge pages. Under AddressSanitizer the
// memory is malloc's, and nothing is kept, so that a use after free and one beyond the end are
// seen.

#ifndef DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_
#define DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_cpu {

inline constexpr size_t kHugePage = size_t{2} << 20;
// Below, what a mapping of its own saves is less than what it takes.
inline constexpr size_t kLeastMapped = 2 * kHugePage;

// nullptr where there is no memory, what is kept included. `nbytes` is at least kLeastMapped. Any
// thread; a forked child has its own of all that was there.
void* AllocateMapped(size_t nbytes) noexcept;

// Takes back what AllocateMapped gave for `nbytes`. Any thread.
void FreeMapped(void* data, size_t nbytes) noexcept;

// Whether what is allocated of this size is never kept, but a new mapping each time, which is all
// zeros.
bool IsNewMapping(size_t nbytes);

// Bytes of what is kept.
int64_t MappedBytesKept();

// Gives what is kept back to the system, all but `keep` bytes at most.
void TrimMapped(size_t keep) noexcept;

}  // namespace internal_cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_CPU_MAPPED_MEMORY_H_
