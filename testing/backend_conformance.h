// The conformance suite of backends: the behaviour that every DeviceBackend must have.
//
//   DOVETAIL_BACKEND_CONFORMANCE(Vendor, [] { return std::make_unique<VendorBackend>(); },
//                                {{"StreamsAreDistinctAndLast", "it has one stream"}});
//
// A test that depends on @dovetail//testing:backend_conformance has just this line. The backend is
// made anew for each test, and registered while the test runs, beside the CPU's. An exclusion names
// a test and a reason, which is printed; one that names no test is a failure. What the backend
// refuses fails the test with the backend's message.

#ifndef DOVETAIL_TESTING_BACKEND_CONFORMANCE_H_
#define DOVETAIL_TESTING_BACKEND_CONFORMANCE_H_

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

// Registers a backend, with what it needs, as long as this object lives. For backends that need
// more than a factory.
class ConformanceEnvironment {
 public:
  virtual ~ConformanceEnvironment() = default;
  virtual DeviceBackend& backend() = 0;
  // Called at the end of a test, after all tensors are gone.
  virtual void Check() {}
};

struct Exclusion {
  std::string test = {};
  std::string reason = {};
};

struct ConformanceCase {
  std::string name = {};
  std::function<std::unique_ptr<ConformanceEnvironment>()> make;
  std::vector<Exclusion> exclusions = {};

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

// The environment of DOVETAIL_BACKEND_CONFORMANCE.
class MadeBackend final : public ConformanceEnvironment {
 public:
  explicit MadeBackend(std::unique_ptr<DeviceBackend> made)
      : backend_(*made), scope_(std::move(made)) {}
  DeviceBackend& backend() override { return backend_; }

 private:
  DeviceBackend& backend_;
  ScopedBackendOverride scope_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

// Instantiates the suite as `name`. `factory` returns a std::unique_ptr<DeviceBackend> or one to a
// class derived from it. What follows is the list of exclusions, which may be absent.
#define DOVETAIL_BACKEND_CONFORMANCE(name_, factory, ...)                                \
  using ::dovetail::BackendConformance; /* GoogleTest wants it unqualified */            \
  INSTANTIATE_TEST_SUITE_P(                                                              \
      name_, BackendConformance,                                                         \
      ::testing::Values(::dovetail::ConformanceCase{                                     \
          .name = #name_,                                                                \
          .make = [] { return std::make_unique<::dovetail::MadeBackend>((factory)()); }, \
          .exclusions = std::vector<::dovetail::Exclusion>(__VA_ARGS__)}),               \
      [](const auto& info) { return info.param.name; })

#endif  // DOVETAIL_TESTING_BACKEND_CONFORMANCE_H_
