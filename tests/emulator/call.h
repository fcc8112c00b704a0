// The scope of each call of the emulator's RuntimeApi, and the functions that fill the table.
// Internal to the emulator.

#ifndef DOVETAIL_TESTS_EMULATOR_CALL_H_
#define DOVETAIL_TESTS_EMULATOR_CALL_H_

#include "dovetail/tests/emulator/impl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

// One call: holds the lock, counts the call, and lets streams run ahead first.
class Call {
 public:
  explicit Call(void* self) : impl_(*static_cast<Emulator::Impl*>(self)), lock_(impl_.mutex) {
    ++impl_.counts.total;
    if (impl_.options.seed != 0) impl_.queues.LetGoAhead();
  }
  Emulator::Impl* operator->() { return &impl_; }
  Emulator::Impl& operator*() { return impl_; }

 private:
  Emulator::Impl& impl_;
  std::lock_guard<std::recursive_mutex> lock_;
};

// Each fills its part of the table.
void FillMemory(gpu::RuntimeApi& api, const EmulatorOptions& options);
void FillStreams(gpu::RuntimeApi& api, const EmulatorOptions& options);
void FillKernels(gpu::RuntimeApi& api);
void FillProcesses(gpu::RuntimeApi& api);

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_CALL_H_
