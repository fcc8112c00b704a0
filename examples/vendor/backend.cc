#include "backend.h"

#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/packing.h"

namespace vendor {
namespace {

using dovetail::Allocator;
using dovetail::Device;
using dovetail::DeviceType;
using dovetail::Event;
using dovetail::MemoryKind;
using dovetail::Stream;
using dovetail::TensorView;

// The memory behind a handle. A real vendor's handle would refer to an object of the driver.
using Buffer = std::vector<unsigned char>;

class BufferAllocator final : public Allocator {
 public:
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream&) override {
    if (nbytes == 0) return nullptr;
    if (nbytes > kMostBytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("ext_dev has ", kMostBytes, " bytes; ", nbytes, " were asked for."));
    }
    return new Buffer(nbytes);
  }
  // No pending work to wait for: every call finishes its work before it returns.
  void Deallocate(void* data, size_t, std::unique_ptr<dovetail::Uses>) noexcept override {
    delete static_cast<Buffer*>(data);
  }

 private:
  static constexpr size_t kMostBytes = size_t{1} << 30;
};

// The bytes of a view: behind a handle on the device, or directly in host memory.
unsigned char* BytesOf(const TensorView& view) {
  if (view.device.type != DeviceType::kExtDev) return static_cast<unsigned char*>(view.data);
  return static_cast<Buffer*>(view.data)->data() + view.byte_offset;
}

class VendorBackend final : public dovetail::DeviceBackend {
 public:
  std::string_view name() const override { return "vendor"; }
  absl::Span<const DeviceType> device_types() const override { return kTypes; }

  // A real backend opens its driver here, on the first call, and reports why there are no devices:
  //   return absl::UnavailableError("the driver's library libvendor.so is not installed");
  absl::StatusOr<int> DeviceCount() override { return 1; }

  absl::StatusOr<Allocator*> GetAllocator(Device device, MemoryKind kind) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    if (kind != MemoryKind::kDevice) {
      return absl::InvalidArgumentError(
          "ext_dev has neither pinned nor managed nor shared memory.");
    }
    return &allocator_;
  }

  // One stream, whose work is done when a call returns. A vendor with queues creates them here
  // (Stream::Own), and creates events in Record.
  absl::StatusOr<Stream> CreateStream(Device device) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    return Stream::Default(device);
  }
  absl::StatusOr<dovetail::StreamRequest> DecodeStream(Device device,
                                                       std::optional<int64_t> code) override {
    if (absl::Status s = Check(device); !s.ok()) return s;
    if (code.has_value() && *code != -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("ext_dev has no stream ", *code, "; pass stream=None."));
    }
    return dovetail::StreamRequest{};
  }
  absl::StatusOr<std::optional<int64_t>> EncodeStream(const Stream&) override {
    return std::nullopt;
  }
  absl::StatusOr<Event> Record(const Stream& stream) override {
    return Event(stream.device(), nullptr);
  }
  absl::Status Wait(const Stream&, const Event&) override { return absl::OkStatus(); }
  absl::StatusOr<bool> Query(const Event&) override { return true; }
  absl::Status Synchronize(const Stream&) override { return absl::OkStatus(); }

  absl::Status Copy(const TensorView& dst, const TensorView& src, const Stream&) override {
    for (const TensorView* side : {&dst, &src}) {
      const DeviceType type = side->device.type;
      if (type != DeviceType::kExtDev && !dovetail::IsHostAccessible(type)) {
        return absl::UnimplementedError(absl::StrCat(
            "ext_dev can't reach memory on ", side->device.ToString(), "; copy through the CPU."));
      }
    }
    const int64_t bits = StepBits(dst.dtype, dst.packing);
    if (bits % 8 != 0 || bits != StepBits(src.dtype, src.packing)) {
      return absl::UnimplementedError("ext_dev copies elements of whole bytes.");
    }
    CopyFrom(0, BytesOf(dst), BytesOf(src), dst, src, bits / 8);
    return absl::OkStatus();
  }

  absl::StatusOr<dovetail::PointerAttributes> GetPointerAttributes(const void*) override {
    return absl::NotFoundError("ext_dev's memory is not reached by pointers.");
  }

 private:
  static constexpr DeviceType kTypes[] = {DeviceType::kExtDev};

  static absl::Status Check(Device device) {
    if (device == kDevice) return absl::OkStatus();
    return absl::NotFoundError(
        absl::StrCat("There is one device, ext_dev:0, and no ", device.ToString(), "."));
  }

  // Copies dimension `dim` and all later dimensions.
  static void CopyFrom(int dim, unsigned char* to, const unsigned char* from, const TensorView& dst,
                       const TensorView& src, int64_t item) {
    if (dim == dst.rank()) {
      std::memcpy(to, from, item);
      return;
    }
    for (int64_t i = 0; i < dst.shape[dim]; ++i) {
      CopyFrom(dim + 1, to + i * dst.strides[dim] * item, from + i * src.strides[dim] * item, dst,
               src, item);
    }
  }

  BufferAllocator allocator_;
};

}  // namespace

std::unique_ptr<dovetail::DeviceBackend> MakeVendorBackend() {
  return std::make_unique<VendorBackend>();
}

absl::Status RegisterVendorBackend(dovetail::Registry& registry) {
  return registry.Register(MakeVendorBackend());
}

}  // namespace vendor
