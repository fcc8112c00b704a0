#include "dovetail/testing/backend_conformance.h"

namespace dovetail {
namespace {

// Each test registers a CPU backend: the one under test.
class CpuEnvironment final : public ConformanceEnvironment {
 public:
  DeviceBackend& backend() override { return **BackendFor(Device::Cpu()); }
};

constexpr char kOneStream[] = "The CPU has one stream, whose work is done when a call returns.";
constexpr char kOrdinary[] = "All memory of the process is the CPU's.";
constexpr char kOneAllocator[] = "The CPU has one allocator, which keeps no statistics.";

INSTANTIATE_TEST_SUITE_P(Cpu, BackendConformance,
                         testing::Values(ConformanceCase{
                             .name = "cpu",
                             .make = [] { return std::make_unique<CpuEnvironment>(); },
                             .exclusions = {{"AStreamsCodeLeadsBackToIt", kOneStream},
                                            {"StreamsAreDistinctAndLast", kOneStream},
                                            {"LentMemoryIsGivenBackOnceAndAfterItsWork",
                                             kOneStream},
                                            {"MemoryOfNobodysIsNotFound", kOrdinary},
                                            {"AllocatorsAreChosenByName", kOneAllocator}}}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace dovetail
