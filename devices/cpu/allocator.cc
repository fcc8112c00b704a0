#include "dovetail/devices/cpu/allocator.h"

#include <cstdint>
#include <new>

#include "absl/strings/str_cat.h"

namespace dovetail::inline DOVETAIL_ABI {

absl::StatusOr<void*> CpuAllocator::Allocate(size_t nbytes, const Stream&) {
  if (nbytes == 0) return nullptr;
  // Sizes beyond the address space are refused here: operator new may abort on them.
  void* data = nbytes > PTRDIFF_MAX
                   ? nullptr
                   : ::operator new(nbytes, std::align_val_t{kAllocationAlignment}, std::nothrow);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("Out of memory on cpu: ", nbytes, " bytes could not be allocated."));
  }
  return data;
}

void CpuAllocator::Deallocate(void* data, size_t, std::unique_ptr<Uses>) noexcept {
  ::operator delete(data, std::align_val_t{kAllocationAlignment});
}

}  // namespace dovetail::inline DOVETAIL_ABI
