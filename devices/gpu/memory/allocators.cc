#include "dovetail/devices/gpu/memory/allocators.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/memory/allocator_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// Allocates with a pair of driver functions that know no streams.
class PlainAllocator final : public GpuAllocator {
 public:
  using Malloc = Result (*)(void* self, size_t nbytes, void** ptr);
  using Free = Result (*)(void* self, void* ptr);
  enum class Reach {
    kDevice,
    kDeviceAndHost,
    kAllDevicesAndHost,  // it is all the same with which device the memory is allocated
  };

  PlainAllocator(GpuContext& context, AllocatorTable& table, int device, std::string where,
                 Malloc malloc, Free free, Reach reach)
      : GpuAllocator(context, table, device, std::move(where)),
        malloc_(malloc),
        free_(free),
        reach_(reach) {}

  bool is_host_accessible() const override { return reach_ != Reach::kDevice; }
  bool ReclaimInOrder(void*, size_t, const Stream&) noexcept override { return false; }
  bool ReclaimAfter(void*, size_t, const Uses::EventList&) noexcept override { return false; }
  void Reclaim(void* data, size_t nbytes) noexcept override {
    Runtime& runtime = context().runtime;
    const RelaxedCaptureMode relaxed(runtime);
    DeviceGuard guard(runtime, DeviceNow());
    if (guard.ok()) free_(runtime.api().self, data);
    AddReserved(-static_cast<int64_t>(nbytes));
  }

 protected:
  absl::StatusOr<void*> Obtain(size_t nbytes, const Stream&) override {
    Runtime& runtime = context().runtime;
    const RelaxedCaptureMode relaxed(runtime);
    DeviceGuard guard(runtime, DeviceNow());
    if (!guard.ok()) return guard.status();
    void* data = nullptr;
    absl::Status s = runtime.Check(malloc_(runtime.api().self, nbytes, &data), "allocating");
    if (!s.ok()) return s;
    AddReserved(static_cast<int64_t>(nbytes));
    return data;
  }

 private:
  int DeviceNow() {
    return reach_ == Reach::kAllDevicesAndHost ? context().runtime.HostMemoryDevice(device())
                                               : device();
  }

  const Malloc malloc_;
  const Free free_;
  const Reach reach_;
};

// Allocates from the device's stream-ordered pool. Memory that several streams used is freed on a
// stream of its own, which waits for them; nothing waits for that stream.
class AsyncAllocator final : public GpuAllocator {
 public:
  AsyncAllocator(GpuContext& context, AllocatorTable& table, int device, std::string where)
      : GpuAllocator(context, table, device, std::move(where)) {}

  bool is_host_accessible() const override { return false; }
  bool ReclaimInOrder(void* data, size_t, const Stream& stream) noexcept override {
    if (StreamDevice(stream.device()).index != device()) return false;
    return Free(data, stream);
  }
  bool ReclaimAfter(void* data, size_t, const Uses::EventList& events) noexcept override {
    const RelaxedCaptureMode relaxed(context().runtime);
    const std::optional<Stream> own = OwnStream();
    if (!own) return false;
    for (const Event& event : events) {
      if (!context().events.Wait(*own, event).ok()) return false;
    }
    return Free(data, *own);
  }
  void Reclaim(void* data, size_t) noexcept override {
    Free(data, OwnStream().value_or(Stream::Default(context().runtime.DeviceAt(device()))));
  }

 protected:
  absl::StatusOr<void*> Obtain(size_t nbytes, const Stream& stream) override {
    Runtime& runtime = context().runtime;
    if (StreamDevice(stream.device()).index != device()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Memory on ", runtime.DeviceAt(device()).ToString(),
                       " can't be allocated in the order of ", stream.ToString(), "."));
    }
    DeviceGuard guard(runtime, device());
    if (!guard.ok()) return guard.status();
    const RuntimeApi& api = runtime.api();
    void* data = nullptr;
    absl::Status s = runtime.Check(
        api.malloc_async(api.self, nbytes, runtime.Native(stream), &data), "allocating");
    if (!s.ok()) return s;
    return data;
  }

  absl::Status Reduce(size_t keep) override {
    Runtime& runtime = context().runtime;
    if (runtime.IsUntouched(device())) return absl::OkStatus();  // a trim makes no context
    const RuntimeApi& api = runtime.api();
    DeviceGuard guard(runtime, device());
    if (!guard.ok()) return guard.status();
    // A stream-ordered free takes effect when its stream is done.
    absl::Status s = runtime.Check(api.device_synchronize(api.self), "waiting for the device");
    if (!s.ok()) return s;
    return runtime.Check(api.pool_trim(api.self, device(), keep), "trimming the pool");
  }

  int64_t ReservedBytes() override {
    PoolStats stats{};
    const RuntimeApi& api = context().runtime.api();
    if (api.pool_stats(api.self, device(), &stats) != 0) return 0;
    return static_cast<int64_t>(stats.reserved_bytes);
  }

 private:
  bool Free(void* data, const Stream& stream) noexcept {
    Runtime& runtime = context().runtime;
    const RelaxedCaptureMode relaxed(runtime);
    DeviceGuard guard(runtime, device());
    if (!guard.ok()) return false;
    const RuntimeApi& api = runtime.api();
    return !MayBeCaptured(stream) && api.free_async(api.self, data, runtime.Native(stream)) == 0;
  }

  std::optional<Stream> OwnStream() {
    absl::MutexLock lock(&mutex_);
    if (!own_) {
      absl::StatusOr<Stream> made = context().streams.Create(context().runtime.DeviceAt(device()));
      if (made.ok()) own_ = *std::move(made);
    }
    return own_;
  }

  absl::Mutex mutex_;
  std::optional<Stream> own_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<void*> GpuAllocator::Allocate(size_t nbytes, const Stream& stream) {
  if (nbytes == 0) return nullptr;
  if (absl::Status s = context_.runtime.CheckDevice(stream.device()); !s.ok()) return s;
  absl::StatusOr<bool> capturing = context_.streams.IsCapturing(stream);
  if (!capturing.ok()) return capturing.status();
  if (*capturing) {
    return absl::FailedPreconditionError(
        absl::StrCat("Memory can't be allocated on ", stream.ToString(),
                     " while it is captured into a graph; allocate it before."));
  }
  context_.releaser.Drain();
  absl::StatusOr<void*> data = Obtain(nbytes, stream);
  if (absl::IsResourceExhausted(data.status()) && !context_.streams.MayCapture()) {
    retries_.fetch_add(1, std::memory_order_relaxed);
    (void)table_.Reduce(*this, 0);  // what fails there fails below, too
    data = Obtain(nbytes, stream);
  }
  if (absl::IsResourceExhausted(data.status())) return OutOfMemory(nbytes, data.status());
  if (!data.ok()) return data;
  allocations_.fetch_add(1, std::memory_order_relaxed);
  const auto size = static_cast<int64_t>(nbytes);
  RaisePeak(peak_, allocated_.fetch_add(size, std::memory_order_relaxed) + size);
  return data;
}

void GpuAllocator::Deallocate(void* data, size_t nbytes, std::unique_ptr<Uses> uses) noexcept {
  if (data == nullptr) return;
  allocated_.fetch_sub(static_cast<int64_t>(nbytes), std::memory_order_relaxed);
  if (uses == nullptr) uses.reset(new (std::nothrow) Uses);
  if (uses == nullptr) return;  // no memory to describe its uses: leaked
  uses->data = data;
  uses->nbytes = nbytes;
  uses->allocator = this;
  context_.releaser.Push(std::move(uses));
}

absl::Status GpuAllocator::Trim(size_t keep) {
  if (absl::Status s = context_.runtime.Ready(); !s.ok()) return s;
  context_.streams.ForgetBorrowedCaptures();
  return table_.Reduce(*this, keep);
}

bool GpuAllocator::MayBeCaptured(const Stream& stream) noexcept {
  const RuntimeApi& api = context_.runtime.api();
  const NativeStream native = context_.runtime.Native(stream);
  if (native == api.legacy_stream) return false;
  CaptureStatus capture = CaptureStatus::kNone;
  const Result result = api.stream_capture_status(api.self, native, &capture);
  return result != 0 || capture != CaptureStatus::kNone;
}

AllocatorStats GpuAllocator::Stats() {
  return {.allocated_bytes = allocated_.load(std::memory_order_relaxed),
          .peak_bytes = peak_.load(std::memory_order_relaxed),
          .reserved_bytes = ReservedBytes(),
          .allocations = allocations_.load(std::memory_order_relaxed),
          .retries = retries_.load(std::memory_order_relaxed)};
}

absl::Status GpuAllocator::OutOfMemory(size_t nbytes, const absl::Status& why) {
  const RuntimeApi& api = context_.runtime.api();
  std::string device = absl::StrCat(context_.runtime.Info(device_).total_bytes, " bytes");
  if (!context_.runtime.IsUntouched(device_)) {
    size_t free = 0, total = 0;
    DeviceGuard guard(context_.runtime, device_);
    if (!guard.ok()) return why;
    if (api.memory_info(api.self, &free, &total) == 0) {
      device = absl::StrCat(total, " bytes, of which ", free, " are free");
    }
  }
  const AllocatorStats stats = Stats();
  return absl::ResourceExhaustedError(absl::StrCat(
      "Out of memory on ", where_, ": ", nbytes, " bytes could not be allocated. The device has ",
      device, "; this allocator holds ", stats.reserved_bytes, ", of which the program uses ",
      stats.allocated_bytes, ". (", why.message(), ")"));
}

std::unique_ptr<GpuAllocator> MakeAllocator(GpuContext& context, AllocatorTable& table,
                                            AllocatorSource source, int device) {
  using Reach = PlainAllocator::Reach;
  const RuntimeApi& api = context.runtime.api();
  const VendorTraits& vendor = context.runtime.vendor();
  std::string where = context.runtime.DeviceAt(device).ToString();
  switch (source) {
    case AllocatorSource::kAsync:
      // The pool keeps its memory until a trim: returning it at each synchronisation is slow.
      api.pool_set_release_threshold(api.self, device, SIZE_MAX);
      return std::make_unique<AsyncAllocator>(context, table, device, std::move(where));
    case AllocatorSource::kDirect:
      return std::make_unique<PlainAllocator>(context, table, device, std::move(where),
                                              api.malloc_device, api.free_device, Reach::kDevice);
    case AllocatorSource::kPinned:
      return std::make_unique<PlainAllocator>(
          context, table, device, absl::StrCat("pinned host memory of ", where), api.malloc_host,
          api.free_host,
          vendor.pinned == vendor.device ? Reach::kDeviceAndHost : Reach::kAllDevicesAndHost);
    case AllocatorSource::kManaged:
      return std::make_unique<PlainAllocator>(
          context, table, device, absl::StrCat("managed memory of ", where), api.malloc_managed,
          api.free_device, Reach::kDeviceAndHost);
  }
  return nullptr;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
