#include "dovetail/devices/rocm/architecture.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace dovetail::inline DOVETAIL_ABI::gpu {
namespace {

struct Node {
  int64_t domain = 0;
  int64_t location = -1;  // bus, device and function as PCI packs them
  int64_t version = 0;    // 90010 is 9.0.10
};

Node ReadNode(const std::filesystem::path& properties) {
  Node node;
  std::ifstream file(properties);
  std::string name;
  for (int64_t value; file >> name >> value;) {
    if (name == "domain") node.domain = value;
    if (name == "location_id") node.location = value;
    if (name == "gfx_target_version") node.version = value;
  }
  return node;
}

}  // namespace

std::string FindArchitecture(const std::string& pci_bus_id, const std::string& nodes) {
  unsigned domain, bus, device, function;
  if (std::sscanf(pci_bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) {
    return "";
  }
  const int64_t location = bus << 8 | device << 3 | function;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(nodes, error)) {
    const Node node = ReadNode(entry.path() / "properties");
    if (node.version == 0 || node.domain != domain || node.location != location) continue;
    char text[32];
    std::snprintf(text, sizeof(text), "gfx%d%x%x", static_cast<int>(node.version / 10000),
                  static_cast<unsigned>(node.version / 100 % 100),
                  static_cast<unsigned>(node.version % 100));
    return text;
  }
  return "";
}

}  // namespace dovetail::inline DOVETAIL_ABI::gpu
