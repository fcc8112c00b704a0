#include "dovetail/devices/rocm/architecture.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

struct Node {
  int64_t domain = 0;
  int64_t location = -1;  // bus << 8 | device << 3 | function
  int64_t version = 0;    // 90010 is 9.0.10
};

// Parses "0000:3b:00.0": domain, bus, device and function in hexadecimal.
struct PciAddress {
  int64_t domain = 0;
  int64_t location = 0;

  bool Parse(const std::string& text) {
    unsigned long numbers[4];
    const char* at = text.c_str();
    for (int i = 0; i < 4; ++i) {
      char* end = nullptr;
      numbers[i] = std::strtoul(at, &end, 16);
      if (end == at || *end != "::.\0"[i]) return false;
      at = end + 1;
    }
    domain = static_cast<int64_t>(numbers[0]);
    location = static_cast<int64_t>(numbers[1] << 8 | numbers[2] << 3 | numbers[3]);
    return true;
  }
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
  PciAddress address;
  if (!address.Parse(pci_bus_id)) return "";
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(nodes, error)) {
    const Node node = ReadNode(entry.path() / "properties");
    if (node.version == 0 || node.domain != address.domain || node.location != address.location) {
      continue;
    }
    char text[32];
    std::snprintf(text, sizeof(text), "gfx%d%x%x", static_cast<int>(node.version / 10000),
                  static_cast<unsigned>(node.version / 100 % 100),
                  static_cast<unsigned>(node.version % 100));
    return text;
  }
  return "";
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
