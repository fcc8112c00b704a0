#include "dovetail/devices/cpu/backend.h"

#include "absl/strings/str_cat.h"
#include "dovetail/devices/cpu/allocator.h"
#include "dovetail/devices/cpu/parts.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr DeviceType kDeviceTypes[] = {DeviceType::kCpu};

class CpuBackend final : public DeviceBackend {
 public:
  std::string_view name() const override { return "cpu"; }
  absl::Span<const DeviceType> device_types() const override { return kDeviceTypes; }
  absl::StatusOr<int> DeviceCount() override { return 1; }

  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    if (kind == MemoryKind::kDevice) return &allocator_;
    if (kind == MemoryKind::kShared) {
      if (!shared_allocator_.ok()) return shared_allocator_.status();
      return shared_allocator_->get();
    }
    return absl::InvalidArgumentError(
        "The CPU has ordinary and shared memory only; pinned and managed memory belong to a GPU's "
        "backend.");
  }

  absl::StatusOr<Stream> CreateStream(Device device) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    return Stream::Default(device);
  }

  // The array API allows None only; -1, "no synchronisation", means the same here and is accepted.
  absl::StatusOr<StreamRequest> DecodeStream(Device device, std::optional<int64_t> code) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    if (code.has_value() && *code != -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("The CPU has no stream ", *code, "; pass stream=None."));
    }
    return StreamRequest{};
  }

  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream& stream) override {
    if (absl::Status s = Check(stream.device()); !s.ok()) return s;
    return std::nullopt;
  }

  // Work is done when its call returns, so every event has happened.
  absl::StatusOr<Event> Record(const Stream& stream) override {
    if (absl::Status s = Check(stream.device()); !s.ok()) return s;
    return Event(stream.device(), nullptr);
  }
  // A stream whose work is done at once can't wait: the host does.
  absl::Status Wait(const Stream& stream, const Event& event) override {
    absl::Status status = Check(stream.device());
    return status.ok() ? HostWait(event) : status;
  }
  absl::StatusOr<bool> Query(const Event& event) override {
    if (!Serves(event.device().type)) return HasHappened(event);
    return true;
  }
  absl::Status HostWait(const Event& event) override {
    return Serves(event.device().type) ? absl::OkStatus() : AwaitOnHost(event);
  }
  absl::Status Synchronize(const Stream& stream) override { return Check(stream.device()); }

  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream&) override {
    if (absl::Status status = CheckReach(dst, src); !status.ok()) return status;
    return cpu::Copy(dst, src);
  }

  absl::Status CastCopy(const TensorView& dst, const TensorView& src, const Stream&) override {
    if (absl::Status status = CheckReach(dst, src); !status.ok()) return status;
    return cpu::CastCopy(dst, src);
  }

  absl::StatusOr<MemoryShare> ShareMemory(Device, void* data, size_t nbytes, const Uses*,
                                          const Stream&) override {
    return cpu::ShareMemory(data, nbytes);
  }
  absl::StatusOr<OpenedMemory> OpenMemory(DeviceType, std::string_view name) override {
    return cpu::OpenMemory(name);
  }

  absl::StatusOr<PointerAttributes> GetPointerAttributes(const void*) override {
    return PointerAttributes{Device::Cpu(), MemoryKind::kDevice, nullptr, 0};
  }

 private:
  static absl::Status Check(Device device) {
    if (device == Device::Cpu()) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("There is one CPU device, \"cpu\", and no ", device.ToString(), "."));
  }

  static absl::Status CheckReach(const TensorView& dst, const TensorView& src) {
    for (Device device : {dst.device, src.device}) {
      if (!IsHostAccessible(device.type)) {
        return absl::InvalidArgumentError(
            absl::StrCat("The CPU can't reach memory on ", device.ToString(), "."));
      }
    }
    return absl::OkStatus();
  }

  CpuAllocator allocator_;
  const absl::StatusOr<std::unique_ptr<Allocator>> shared_allocator_ = cpu::MakeSharedAllocator();
};

}  // namespace

std::unique_ptr<DeviceBackend> MakeCpuBackend() { return std::make_unique<CpuBackend>(); }

absl::Status RegisterCpuBackend(Registry& registry) { return registry.Register(MakeCpuBackend()); }

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
