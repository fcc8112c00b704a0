// The architecture of an AMD device, such as "gfx90a". HIP reports it only in a structure that has
// another layout in each version; Linux's driver reports it as text in /sys.
//
//   FindArchitecture("0000:3b:00.0", "/sys/class/kfd/kfd/topology/nodes")    // "gfx90a", or ""
//
// Source: Linux, drivers/gpu/drm/amd/amdkfd/kfd_topology.c (gfx_target_version, location_id,
// domain).

#ifndef DOVETAIL_DEVICES_ROCM_ARCHITECTURE_H_
#define DOVETAIL_DEVICES_ROCM_ARCHITECTURE_H_

#include <string>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

inline constexpr char kKfdNodes[] = "/sys/class/kfd/kfd/topology/nodes";

// The architecture of the device at a PCI bus id. `nodes` is a folder with one entry per device.
// Empty if unknown.
std::string FindArchitecture(const std::string& pci_bus_id, const std::string& nodes);

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ROCM_ARCHITECTURE_H_
