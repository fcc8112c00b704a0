// Registers every backend, on a machine without a GPU, too. It exits with 1 if one is missing.
#include <iostream>

#include "dovetail/devices/register_all.h"
#include "dovetail/dovetail.h"

int main() {
  using dovetail::DeviceType;
  dovetail::RegisterAllBackends();
  for (const DeviceType type :
       {DeviceType::kCpu, DeviceType::kCuda, DeviceType::kRocm, DeviceType::kOneApi}) {
    const auto tensor = dovetail::Tensor::Empty({2, 3}, dovetail::kFloat32, {type, 0});
    std::cout << "install: " << dovetail::Device{type, 0} << ": " << tensor.status() << "\n";
    if (!dovetail::BackendFor({type, 0}).ok() && absl::IsNotFound(tensor.status())) return 1;
    if (type == DeviceType::kCpu && !tensor.ok()) return 1;
  }
  return 0;
}
