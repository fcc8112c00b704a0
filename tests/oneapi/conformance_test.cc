// The conformance suite of backends on SYCL's first device. Without a SYCL runtime it is skipped.
// tests/other_libraries/run.sh oneapi runs it where there is one.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/abi/export.h"
#include "dovetail/core/abi/import.h"
#include "dovetail/devices/gpu/backend.h"
#include "dovetail/devices/oneapi/runtime.h"
#include "dovetail/testing/backend_conformance.h"

namespace dovetail {
namespace {

std::unique_ptr<DeviceBackend> Direct() { return gpu::MakeGpuBackend(gpu::OneApiRuntimeApi()); }

std::unique_ptr<DeviceBackend> ThroughTheCStruct() {
  return *ImportBackend(ExportBackend(Direct()));
}

// Why there is no device; "" if there is one.
std::string WhyNone() {
  std::string reason;
  const gpu::RuntimeApi& api = gpu::OneApiRuntimeApi();
  return api.load(api.self, &reason) ? "" : reason;
}

template <typename Make>
ConformanceCase Case(std::string name, Make make) {
  return {.name = std::move(name),
          .make = [make] { return std::make_unique<MadeBackend>(make()); },
          .exclusions = {}};
}

// No cases if there is no device; OneApi.IsThere says why.
std::vector<ConformanceCase> Cases() {
  if (!WhyNone().empty()) return {};
  return {Case("oneapi", &Direct), Case("oneapi_through_abi", &ThroughTheCStruct)};
}

TEST(OneApi, IsThere) {
  if (const std::string why = WhyNone(); !why.empty()) GTEST_SKIP() << why;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BackendConformance);
INSTANTIATE_TEST_SUITE_P(OneApi, BackendConformance, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dovetail
