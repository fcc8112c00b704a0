// FakeBackend: a backend for tests. It offers host memory as any device type, logs all calls, and
// copies one bit after the other.
//
//   FakeLog log;
//   ScopedBackendOverride fake(std::make_unique<FakeBackend>(types, &log));
//   … EXPECT_EQ(log.deallocated, log.allocated);
//
// Not thread-safe.

#ifndef DOVETAIL_CORE_TESTING_FAKE_BACKEND_H_
#define DOVETAIL_CORE_TESTING_FAKE_BACKEND_H_

#include <memory>
#include <utility>
#include <vector>

#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct FakeLog {
  int allocated = 0;
  int deallocated = 0;
  size_t allocated_bytes = 0;
  size_t deallocated_bytes = 0;
  std::vector<Stream> used_on;    // streams of the last Deallocate
  std::vector<Stream> copied_on;  // the stream of each Copy
  std::vector<Stream> recorded;
  std::vector<Stream> waited;
  std::vector<Stream> synchronized;
  std::vector<Release> late;  // passed to ReleaseAfter; not yet called
  bool destroyed = false;
  bool copy_fails = false;  // set by a test: each Copy fails after it is logged
};

// The value of allocated bytes that nothing has written yet.
inline constexpr int kUnwritten = 0xcd;
// A lasting stream, like those that backends create.
inline Stream FakeStream(Device device, uintptr_t handle) {
  return Stream::Own(device, NativeStream{handle}, std::make_shared<int>(0));
}

// Copies element by element, bit by bit.
void NaiveCopy(const TensorView& dst, const TensorView& src);

class FakeBackend : public DeviceBackend {
 public:
  // `log` outlives the backend.
  FakeBackend(std::vector<DeviceType> types, FakeLog* log)
      : types_(std::move(types)), log_(log), allocator_(log) {
    log->used_on.reserve(16);  // Deallocate appends to it and must not allocate
    log->late.reserve(16);
  }
  ~FakeBackend() override { log_->destroyed = true; }

  std::string_view name() const override { return "fake"; }
  absl::Span<const DeviceType> device_types() const override { return types_; }
  absl::StatusOr<int> DeviceCount() override { return 2; }
  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) override;
  absl::StatusOr<Stream> CreateStream(Device device) override;
  absl::StatusOr<StreamRequest> DecodeStream(Device, std::optional<int64_t>) override {
    return StreamRequest{};
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream&) override {
    return std::nullopt;
  }
  absl::StatusOr<Event> Record(const Stream& stream) override;
  absl::Status Wait(const Stream& stream, const Event& event) override;
  absl::StatusOr<bool> Query(const Event&) override { return true; }
  absl::Status Synchronize(const Stream& stream) override;
  void ReleaseAfter(std::unique_ptr<Uses>, Release release) noexcept override {
    log_->late.push_back(release);
  }
  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override;
  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void*) override {
    return absl::NotFoundError("The fake backend knows no pointers.");
  }

 private:
  class FakeAllocator final : public Allocator {
   public:
    explicit FakeAllocator(FakeLog* log) : log_(log) {}
    absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override;
    void Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept override;

   private:
    FakeLog* log_;
  };

  std::vector<DeviceType> types_;
  FakeLog* log_;
  FakeAllocator allocator_;
  uintptr_t next_stream_ = 1;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_FAKE_BACKEND_H_
