// SourceAllocator: what the registry makes of a MemorySource. It counts the source's memory and
// checks it; the backend's allocator (DeviceBackend::MakeAllocator) does the rest.
//
//   absl::StatusOr<std::unique_ptr<SourceAllocator>> a =
//       internal_registry::SourceAllocator::Make(backend, device, kind, std::move(source));
//   (*a)->Retire();     // the source is destroyed once all of its memory is back
//
// The SourceAllocator itself stays: another thread may have found it in the registry and be about
// to call it. From the end of the source on, such a call is served by the backend's own allocator.

#ifndef DOVETAIL_CORE_INTERNAL_SOURCE_ALLOCATOR_H_
#define DOVETAIL_CORE_INTERNAL_SOURCE_ALLOCATOR_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/allocator.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/memory_source.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_registry {

// A source that ends when nobody holds it: not the registry, no allocation that runs, no memory.
class CountedSource final : public MemorySource {
 public:
  explicit CountedSource(std::unique_ptr<MemorySource> source) : source_(std::move(source)) {}

  // False if the source has ended.
  bool Hold() noexcept;
  void LetGo() noexcept;

  // The caller holds the source. InvalidArgument, with the address, for misaligned memory.
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override;

 private:
  std::unique_ptr<MemorySource> source_;
  std::atomic<int64_t> holders_{1};
};

class SourceAllocator final : public Allocator {
 public:
  // The errors of DeviceBackend::MakeAllocator; the source is destroyed then.
  static absl::StatusOr<std::unique_ptr<SourceAllocator>> Make(
      DeviceBackend& backend, Device device, MemoryKind kind, std::unique_ptr<MemorySource> source);

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
  void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;
  absl::Status Trim(size_t keep) override { return allocator_->Trim(keep); }
  AllocatorStats Stats() override { return allocator_->Stats(); }

  // The registry has chosen another allocator. Called once.
  void Retire() noexcept { source_.LetGo(); }

 private:
  SourceAllocator(DeviceBackend& backend, Device device, MemoryKind kind,
                  std::unique_ptr<MemorySource> source)
      : backend_(backend), device_(device), kind_(kind), source_(std::move(source)) {}
  absl::StatusOr<void*> AllocateElsewhere(size_t nbytes, const Stream& stream);
  Allocator* TakeElsewhere(void* data) noexcept;

  DeviceBackend& backend_;
  const Device device_;
  const MemoryKind kind_;
  CountedSource source_;
  std::unique_ptr<Allocator> allocator_;  // the backend's, over source_

  // Memory that came from another allocator, because the source had ended.
  std::atomic<int> elsewhere_count_{0};
  absl::Mutex mutex_;
  std::vector<std::pair<void*, Allocator*>> elsewhere_ ABSL_GUARDED_BY(mutex_);
};

// The default of DeviceBackend::MakeAllocator.
absl::StatusOr<std::unique_ptr<Allocator>> MakePlainSourceAllocator(DeviceBackend& backend,
                                                                    Device device, MemoryKind kind,
                                                                    MemorySource& source);

}  // namespace internal_registry
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_INTERNAL_SOURCE_ALLOCATOR_H_
