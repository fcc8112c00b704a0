#include "dovetail/core/copy.h"

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy_through_host.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// Whether the bytes that two tensors reach may have any in common.
bool MayOverlap(const Tensor& a, const Tensor& b) {
  ByteRange x, y;
  if (!BytesReached(a.layout(), a.dtype(), a.packing(), &x).ok() ||
      !BytesReached(b.layout(), b.dtype(), b.packing(), &y).ok()) {
    return true;
  }
  const auto p = reinterpret_cast<intptr_t>(a.raw_data());
  const auto q = reinterpret_cast<intptr_t>(b.raw_data());
  return p + x.begin < q + y.end && q + y.begin < p + x.end;
}

// The device whose backend does the copy: the one that the host can't reach, if any.
Device CopyingDevice(Device dst, Device src) { return dst.type == DeviceType::kCpu ? src : dst; }

absl::Status CopyElements(const Tensor& dst, const Tensor& src,
                          const std::optional<Stream>& stream) {
  const Device device = CopyingDevice(dst.device(), src.device());
  const Stream on = stream ? *stream : CurrentStream(device);
  absl::StatusOr<DeviceBackend*> backend = BackendFor(on.device());
  if (!backend.ok()) return backend.status();
  if (device.type == DeviceType::kCpu) return (*backend)->Copy(dst.view(), src.view(), on);
  if (NeedsTheHost(dst.device(), src.device())) return CopyThroughHost(dst, src, stream);
  for (const Tensor* tensor : {&dst, &src}) {
    if (absl::Status s = tensor->storage()->OrderBefore(on); !s.ok()) return s;
  }
  if (absl::Status s = (*backend)->Copy(dst.view(), src.view(), on); !s.ok()) return s;
  dst.storage()->RecordUse(on);
  src.storage()->RecordUse(on);
  const bool host_waits =
      !stream && (IsHostAccessible(dst.device().type) || IsHostAccessible(src.device().type));
  return host_waits ? (*backend)->Synchronize(on) : absl::OkStatus();
}

}  // namespace

absl::Status Copy(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  if (dst.is_read_only()) {
    return absl::FailedPreconditionError("The destination is read-only.");
  }
  if (dst.dtype() != src.dtype()) {
    return absl::InvalidArgumentError(absl::StrCat("The types differ: ", dst.dtype().ToString(),
                                                   " and ", src.dtype().ToString(), "."));
  }
  absl::StatusOr<Tensor> from = src.BroadcastTo(dst.shape());
  if (!from.ok()) return from.status();
  if (dst.num_elements() == 0) return absl::OkStatus();
  if (dst.device() == src.device() && MayOverlap(dst, src)) {
    absl::StatusOr<Tensor> aside = CopyTo(src, src.device(), stream);
    if (!aside.ok()) return aside.status();
    return Copy(dst, *aside, stream);
  }
  return CopyElements(dst, *from, stream);
}

absl::Status Fill(const Tensor& dst, const void* element, const std::optional<Stream>& stream) {
  StorageRef storage = Storage::Adopt(const_cast<void*>(element), dst.dtype().itemsize(),
                                      Device::Cpu(), Storage::Release{});
  absl::StatusOr<Tensor> scalar =
      Tensor::Make(std::move(storage), 0, dst.dtype(), Layout(),
                   {.access = Access::kReadOnly, .packing = Packing::kPacked});
  if (!scalar.ok()) return scalar.status();
  return Copy(dst, *scalar, stream);
}

absl::StatusOr<Tensor> CopyTo(const Tensor& src, Device device,
                              const std::optional<Stream>& stream) {
  std::optional<StreamScope> scope;
  if (stream && stream->device() == StreamDevice(device)) scope.emplace(*stream);
  absl::StatusOr<Tensor> dst = Tensor::Empty(src.shape(), src.dtype(), device);
  if (!dst.ok() || dst->num_elements() == 0) return dst;
  absl::Status status = CopyElements(*dst, src, stream);
  if (!status.ok()) return status;
  return dst;
}

absl::StatusOr<Tensor> Contiguous(const Tensor& src, const std::optional<Stream>& stream) {
  if (src.is_contiguous()) return src;
  return CopyTo(src, src.device(), stream);
}

}  // namespace dovetail::inline DOVETAIL_ABI
