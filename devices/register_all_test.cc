#include "dovetail/devices/register_all.h"

#include <dlfcn.h>

#include "dovetail/core/registry.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(RegisterAll, EveryBackendIsThereAndNoDriverIsOpened) {
  EXPECT_TRUE(Registry::Global().Backends().empty());
  EXPECT_EQ(RegisterBackends("cpu,tpu").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Registry::Global().Backends().empty()) << "a wrong name registers nothing";
  EXPECT_EQ(RegisterBackends("cpu,,cuda").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RegisterBackends("c pu").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Registry::Global().Backends().empty()) << "a wrong name registers nothing";
  EXPECT_TRUE(RegisterBackends(" cpu\t").ok()) << "blanks around a name mean nothing";
  EXPECT_EQ(Registry::Global().Backends().size(), 1u);
  EXPECT_EQ(RegisterBackends("cpu").code(), absl::StatusCode::kAlreadyExists);
  RegisterAllBackends();
  RegisterAllBackends();
  EXPECT_EQ(Registry::Global().Backends().size(), 4u);
  for (DeviceType type : {DeviceType::kCuda, DeviceType::kCudaHost, DeviceType::kCudaManaged}) {
    ASSERT_NE(Registry::Global().Find(type), nullptr) << DeviceTypeName(type);
    EXPECT_EQ(Registry::Global().Find(type)->name(), "cuda");
  }
  for (DeviceType type : {DeviceType::kRocm, DeviceType::kRocmHost}) {
    ASSERT_NE(Registry::Global().Find(type), nullptr) << DeviceTypeName(type);
    EXPECT_EQ(Registry::Global().Find(type)->name(), "rocm");
  }
  ASSERT_NE(Registry::Global().Find(DeviceType::kOneApi), nullptr);
  EXPECT_EQ(Registry::Global().Find(DeviceType::kOneApi)->name(), "oneapi");
  for (const char* library : {"libcuda.so.1", "libamdhip64.so.7", "libamdhip64.so.6",
                              "libamdhip64.so.5", "libDPCTLSyclInterface.so"}) {
    EXPECT_EQ(dlopen(library, RTLD_LAZY | RTLD_NOLOAD), nullptr) << library;
  }
}

}  // namespace
}  // namespace dovetail
