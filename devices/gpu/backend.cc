#include "dovetail/devices/gpu/backend.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/devices/gpu/memory/allocator_table.h"
#include "dovetail/devices/gpu/memory/shared_blocks.h"
#include "dovetail/devices/gpu/memory/user_allocator.h"
#include "dovetail/devices/gpu/stream/order.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

std::vector<DeviceType> DeviceTypesOf(const VendorTraits& vendor) {
  std::vector<DeviceType> types = {vendor.device};
  if (vendor.pinned != vendor.device) types.push_back(vendor.pinned);
  if (vendor.managed) types.push_back(*vendor.managed);
  return types;
}

class GpuBackend final : public DeviceBackend {
 public:
  explicit GpuBackend(const RuntimeApi& api)
      : types_(DeviceTypesOf(*api.vendor)),
        context_(api),
        allocators_(context_),
        copier_(context_, [this](Device device) { return AllocatorOfTemporaries(device); }),
        shared_blocks_(context_) {}
  // Before the allocators: memory that is being released returns to them.
  ~GpuBackend() override {
    context_.releaser.Flush();
    context_.releaser.Abandon();
    context_.streams.DestroyPending();
  }

  std::string_view name() const override { return context_.runtime.vendor().name; }
  absl::Span<const DeviceType> device_types() const override { return types_; }
  absl::StatusOr<int> DeviceCount() override { return context_.runtime.DeviceCount(); }
  std::vector<std::string> LibraryFiles() override { return context_.runtime.LibraryFiles(); }

  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) override {
    return allocators_.Get(device, kind);
  }
  std::vector<std::string> AllocatorNames(Device device, MemoryKind kind) override {
    return allocators_.Names(device, kind);
  }
  absl::Status SelectAllocator(Device device, MemoryKind kind, std::string_view name) override {
    return allocators_.Select(device, kind, name);
  }
  absl::StatusOr<std::unique_ptr<Allocator>> MakeAllocator(Device device, MemoryKind kind,
                                                           MemorySource& source) override {
    return MakeUserAllocator(context_, allocators_, device, kind, source);
  }
  Device MemoryDevice(Device device, MemoryKind kind) override {
    const VendorTraits& vendor = context_.runtime.vendor();
    switch (allocators_.KindOf(device, kind)) {
      case MemoryKind::kPinnedHost:
        return context_.runtime.PinnedAt(StreamDevice(device).index);
      case MemoryKind::kManaged:
        if (vendor.managed) return {*vendor.managed, 0};
        break;
      case MemoryKind::kDevice:
      case MemoryKind::kShared:
        break;
    }
    return StreamDevice(device);
  }

  absl::StatusOr<Stream> CreateStream(Device device) override {
    return context_.streams.Create(device);
  }
  absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t> code) override {
    return context_.streams.Decode(device, code);
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) override {
    return context_.streams.Encode(stream);
  }

  absl::StatusOr<Event> Record(const Stream& stream) override {
    return context_.events.Record(stream);
  }
  absl::Status Wait(const Stream& stream, const Event& event) override {
    if (!Serves(event.device().type)) return AwaitOnHost(event);
    return context_.events.Wait(stream, event);
  }
  absl::StatusOr<bool> Query(const Event& event) override {
    if (!Serves(event.device().type)) return HasHappened(event);
    return context_.events.Query(event);
  }
  absl::Status HostWait(const Event& event) override {
    if (!Serves(event.device().type)) return AwaitOnHost(event);
    return context_.events.Synchronize(event);
  }
  absl::Status Synchronize(const Stream& stream) override {
    return context_.streams.Synchronize(stream);
  }
  absl::Status OrderBefore(Uses& uses, const Stream& consumer) override {
    return gpu::OrderBefore(context_, uses, consumer);
  }
  absl::Status WaitForeign(const Stream& stream, const void* event) override {
    const RuntimeApi& api = context_.runtime.api();
    if (!api.has_vendor_events) return DeviceBackend::WaitForeign(stream, event);
    DeviceGuard guard(context_.runtime, StreamDevice(stream.device()).index);
    if (!guard.ok()) return guard.status();
    return context_.runtime.Check(api.stream_wait_event(api.self, context_.runtime.Native(stream),
                                                        *static_cast<const NativeEvent*>(event)),
                                  "letting a stream wait for an event of another library");
  }
  void ReleaseAfter(std::unique_ptr<Uses> uses, Release release) noexcept override {
    uses->release = release;
    uses->allocator = nullptr;
    context_.releaser.Push(std::move(uses));
  }

  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream& stream) override {
    context_.releaser.Drain(stream);
    return copier_.Copy(dst, src, stream);
  }

  absl::Status CastCopy(const TensorView& dst, const TensorView& src,
                        const Stream& stream) override {
    context_.releaser.Drain(stream);
    return copier_.Cast(dst, src, stream);
  }

  absl::Status Fill(const TensorView& dst, const void* element, const Stream& stream) override {
    context_.releaser.Drain(stream);
    return copier_.Fill(dst, element, stream);
  }

  absl::Status Arange(const TensorView& dst, const Progression& numbers,
                      const Stream& stream) override {
    context_.releaser.Drain(stream);
    return copier_.Arange(dst, numbers, stream);
  }

  absl::StatusOr<MemoryShare> ShareMemory(Device device, void* data, size_t nbytes,
                                          const Uses* uses, const Stream& stream) override {
    if (!IsShareable()) return DeviceBackend::ShareMemory(device, data, nbytes, uses, stream);
    return shared_blocks_.Share(device, data, nbytes, uses, stream);
  }
  absl::StatusOr<OpenedMemory> OpenMemory(DeviceType type, std::string_view name) override {
    if (!IsShareable()) return DeviceBackend::OpenMemory(type, name);
    return shared_blocks_.Open(name);
  }

  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void* data) override {
    if (absl::Status s = context_.runtime.Ready(); !s.ok()) return s;
    const VendorTraits& vendor = context_.runtime.vendor();
    const RuntimeApi& api = context_.runtime.api();
    PointerInfo info{};
    absl::Status s =
        context_.runtime.Check(api.pointer_info(api.self, data, &info), "asking about a pointer");
    if (!s.ok()) return s;
    const Device device = context_.runtime.DeviceAt(info.device);
    switch (info.kind) {
      case PointerKind::kPinnedHost:
        return PointerAttributes{context_.runtime.PinnedAt(info.device), MemoryKind::kPinnedHost,
                                 info.base, info.nbytes};
      case PointerKind::kManaged:
        return PointerAttributes{vendor.managed ? Device{*vendor.managed, 0} : device,
                                 MemoryKind::kManaged, info.base, info.nbytes};
      case PointerKind::kDevice:
        return PointerAttributes{device, MemoryKind::kDevice, info.base, info.nbytes};
      case PointerKind::kUnknown:
        break;
    }
    return absl::NotFoundError(absl::StrCat("The address 0x",
                                            absl::Hex(reinterpret_cast<uintptr_t>(data)),
                                            " is in no memory of ", vendor.product, "."));
  }

 private:
  // (Of the registry in this shared object, which serves this backend unless it was exported.)
  absl::StatusOr<Allocator*> AllocatorOfTemporaries(Device device) {
    constexpr MemoryKind kKind = MemoryKind::kDevice;
    if (Allocator* set = Registry::Shared().FindSetAllocator(device, kKind)) return set;
    return allocators_.Get(device, kKind);
  }

  bool IsShareable() const { return context_.runtime.api().ipc_memory_handle != nullptr; }

  const std::vector<DeviceType> types_;
  GpuContext context_;
  AllocatorTable allocators_;
  Copier copier_;
  SharedBlocks shared_blocks_;
};

}  // namespace

std::unique_ptr<DeviceBackend> MakeGpuBackend(const RuntimeApi& api) {
  return std::make_unique<GpuBackend>(api);
}

absl::Status RegisterGpuBackend(Registry& registry, const RuntimeApi& api) {
  return registry.Register(MakeGpuBackend(api));
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
