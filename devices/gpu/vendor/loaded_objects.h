// The shared objects that this process has loaded: copies of a library, under whatever file name.
//
//   FindCopies({"libamdhip64.so.6"})   // {"/…/torch/lib/libamdhip64.so"}
//   CountLoads()                       // grows whenever an object is loaded
//
// Any thread.

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_LOADED_OBJECTS_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_LOADED_OBJECTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// The number of shared objects that this process has loaded so far, at least 1. Allocates nothing.
uint64_t CountLoads();

// Whether `file` is a copy of the library `name` by its file name: libamdhip64.so.6 has the copies
// libamdhip64.so and libamdhip64.so.7.1, and libamdhip64-1a2b3c4d.so.6 as auditwheel names them.
// Folders do not matter.
bool IsCopyOf(std::string_view file, std::string_view name);

// The files of the loaded copies of the libraries `names`, in the order of loading.
std::vector<std::string> FindCopies(absl::Span<const std::string> names);

// The file of a library that dlopen returned; "" if it is not known.
std::string FileOf(void* library);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_LOADED_OBJECTS_H_
