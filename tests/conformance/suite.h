// The conformance suite of backends: the behaviour that every DeviceBackend must have.
//
//   INSTANTIATE_TEST_SUITE_P(MyGpu, BackendConformance, testing::Values(ConformanceCase{
//       .name = "my_gpu",
//       .make = [] { return std::make_unique<MyEnvironment>(); },
//       .exclusions = {{"StreamsAreDistinct", "it has one stream"}}}));
//
// Link //tests/conformance:suite and instantiate it. A case excludes a test by its name, with a
// reason, which is printed. Needs a CPU backend, which each test registers for itself.

#ifndef DOVETAIL_TESTS_CONFORMANCE_SUITE_H_
#define DOVETAIL_TESTS_CONFORMANCE_SUITE_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/cpu/backend.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

// Registers a backend, with what it needs, as long as this object lives.
class ConformanceEnvironment {
 public:
  virtual ~ConformanceEnvironment() = default;
  virtual DeviceBackend& backend() = 0;
  // Called at the end of a test, after all tensors are gone.
  virtual void Check() {}
};

struct Exclusion {
  std::string test;
  std::string reason;
};

struct ConformanceCase {
  std::string name;
  std::function<std::unique_ptr<ConformanceEnvironment>()> make;
  std::vector<Exclusion> exclusions;

  friend std::ostream& operator<<(std::ostream& os, const ConformanceCase& c) {
    return os << c.name;
  }
};

class BackendConformance : public testing::TestWithParam<ConformanceCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

  DeviceBackend& backend() { return environment_->backend(); }
  Device device(int index = 0) { return {backend().device_types()[0], index}; }
  int devices() { return backend().DeviceCount().value_or(0); }
  Allocator& allocator(MemoryKind kind = MemoryKind::kDevice) {
    return **backend().GetAllocator(device(), kind);
  }

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
  std::unique_ptr<ConformanceEnvironment> environment_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_CONFORMANCE_SUITE_H_
