// Opens a backend in another shared object, takes over its C struct, registers it and uses it.

#include <dlfcn.h>

#include <cstring>

#include "dovetail/copy.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/dovetail.h"
#include "gtest/gtest.h"

namespace {

using dovetail::Device;
using dovetail::DeviceType;
using dovetail::Tensor;

TEST(VendorPlugin, ServesItsDeviceFromAnotherSharedObject) {
  void* library = dlopen("./libvendor_backend.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* make = reinterpret_cast<DovetailBackend* (*)()>(dlsym(library, "vendor_backend"));
  ASSERT_NE(make, nullptr) << dlerror();
  auto backend = dovetail::ImportBackend(make());
  ASSERT_TRUE(backend.ok()) << backend.status();
  dovetail::RegisterDefaultBackends();
  ASSERT_TRUE(dovetail::Registry::Global().Register(*std::move(backend)).ok());

  const Tensor x = *Tensor::Empty({2, 3}, dovetail::kInt32);
  for (int i = 0; i < 6; ++i) static_cast<int32_t*>(x.raw_data())[i] = i;
  const Tensor there = *dovetail::Copied(x, {.device = Device{DeviceType::kExtDev, 0}});
  const Tensor back = *dovetail::Copied(*there.Transpose(0, 1), {.device = Device::Cpu()});
  const int32_t expected[] = {0, 3, 1, 4, 2, 5};
  EXPECT_EQ(std::memcmp(back.raw_data(), expected, sizeof(expected)), 0);
  // The plugin's error messages also cross the boundary.
  const absl::Status status =
      Tensor::Empty({1}, dovetail::kInt8, {DeviceType::kExtDev, 7}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("ext_dev:7"), status.message().npos);
}

}  // namespace
