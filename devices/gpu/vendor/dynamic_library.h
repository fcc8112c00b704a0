// Opens a vendor's library at run time and finds its functions by name.
//
//   SymbolSlot slots[] = {{"cuInit", &address, /*required=*/true}, ...};
//   std::string reason;
//   if (!OpenLibrary({"libcuda.so.1"}, slots, &reason)) ... reason is for people
//
// The list of a vendor's functions stands in an .inc of its package; SymbolSlots are made from it.
// A library that was opened stays open as long as the process: what came from it may be used in
// deleters until the end. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_

#include <string>

#include "absl/types/span.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Whether a library may lack a function (nullptr is put in its place then).
enum class Need : bool { kOptional = false, kRequired = true };

struct SymbolSlot {
  const char* name;
  void** address;  // where the function's address is put
  Need need;
};

// Opens the first of `names` that there is and fills the slots. False: `reason` says which file is
// missing or which functions the library lacks, and every slot is nullptr.
bool OpenLibrary(absl::Span<const char* const> names, absl::Span<const SymbolSlot> slots,
                 std::string* reason);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_DYNAMIC_LIBRARY_H_
