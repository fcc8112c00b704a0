// Opens a vendor's library at run time and finds its functions by name.
//
//   SymbolSlot slots[] = {{"cuInit", &address, Need::kRequired}, ...};
//   std::string reason;
//   if (!OpenLibrary({"libcuda.so.1"}, slots, &reason)) ... reason is for people
//
// Each vendor lists its functions in symbols.inc and makes SymbolSlots from the list. An opened
// library stays open as long as the process, since deleters may call it until the end. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_

#include <string>

#include "absl/types/span.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Whether a library may lack a function; its slot is then nullptr.
enum class Need : bool { kOptional = false, kRequired = true };

struct SymbolSlot {
  const char* name;
  void** address;  // receives the function's address
  Need need;
};

// Opens the first library of `names` that exists and fills the slots. False: `reason` says which
// file is missing or which functions the library lacks, and every slot is nullptr.
bool OpenLibrary(absl::Span<const char* const> names, absl::Span<const SymbolSlot> slots,
                 std::string* reason);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
