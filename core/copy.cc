#include "dovetail/core/copy.h"

#include "absl/strings/str_cat.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/internal/copy_through_host.h"
#include "dovetail/core/internal/host_wait.h"
#include "dovetail/core/internal/memory_order.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/core/trace/trace.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using internal_trace::AwaitStream;
using internal_trace::IsObserved;
using internal_trace::TellOf;

// Whether the byte ranges that two tensors reach may overlap.
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

// The device that performs the copy: the one that is not the CPU, if any.
Device CopyingDevice(Device dst, Device src) { return dst.type == DeviceType::kCpu ? src : dst; }

enum class Transfer { kCopy, kCast, kFill };

absl::Status Do(Transfer transfer, DeviceBackend* backend, const Tensor& dst, const Tensor& src,
                const Stream& on) {
  return transfer == Transfer::kCast ? backend->CastCopy(dst.view(), src.view(), on)
                                     : backend->Copy(dst.view(), src.view(), on);
}

// Unimplemented if the transfer is no fill or the backend can't read the element in advance.
absl::Status TryFill(Transfer transfer, DeviceBackend* backend, const Tensor& dst,
                     const Tensor& src, const Stream& on) {
  if (transfer != Transfer::kFill || IsHostAccessible(dst.device().type)) {
    return absl::UnimplementedError("");
  }
  return backend->Fill(dst.view(), src.raw_data(), on);
}

TraceKind KindOf(Transfer transfer) {
  switch (transfer) {
    case Transfer::kCopy:
      return TraceKind::kCopy;
    case Transfer::kCast:
      return TraceKind::kCast;
    case Transfer::kFill:
      return TraceKind::kFill;
  }
  return TraceKind::kCopy;
}

absl::Status CopyElementsOn(const Stream& on, Device device, Transfer transfer, const Tensor& dst,
                            const Tensor& src, const std::optional<Stream>& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(on.device());
  if (!backend.ok()) return backend.status();
  if (device.type == DeviceType::kCpu) return Do(transfer, *backend, dst, src, on);
  if (NeedsTheHost(dst.device(), src.device())) {
    if (transfer != Transfer::kCast) return CopyThroughHost(dst, src, stream);
    return absl::UnimplementedError("No backend casts between these devices.");
  }
  for (const Tensor* tensor : {&dst, &src}) {
    if (absl::Status s = tensor->storage()->OrderBefore(on); !s.ok()) return s;
  }
  absl::Status done = TryFill(transfer, *backend, dst, src, on);
  const bool is_filled = done.ok();
  if (absl::IsUnimplemented(done)) done = Do(transfer, *backend, dst, src, on);
  if (!done.ok()) return done;
  dst.storage()->RecordUse(on);
  src.storage()->RecordUse(on);
  const bool host_waits =
      !stream && !is_filled &&
      (IsHostAccessible(dst.device().type) || IsHostAccessible(src.device().type));
  return host_waits ? AwaitStream(**backend, on) : absl::OkStatus();
}

absl::Status CopyElements(Transfer transfer, const Tensor& dst, const Tensor& src,
                          const std::optional<Stream>& stream) {
  const Device device = CopyingDevice(dst.device(), src.device());
  const Stream on = stream ? *stream : CurrentStream(device);
  const auto copy = [&] { return CopyElementsOn(on, device, transfer, dst, src, stream); };
  if (!IsObserved()) [[likely]]
    return copy();
  return TellOf({.kind = KindOf(transfer),
                 .dtype = src.dtype(),
                 .shape = dst.shape(),
                 .nbytes = dst.nbytes(),
                 .device = src.device(),
                 .to_dtype = dst.dtype(),
                 .to_device = dst.device(),
                 .stream = &on},
                copy);
}

// Checks access, broadcasts the source and resolves overlap; then calls `move`, which copies.
template <typename Move>
absl::Status Prepare(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream,
                     Move move) {
  if (dst.is_read_only()) {
    return absl::FailedPreconditionError("The destination is read-only.");
  }
  absl::StatusOr<Tensor> from = src.BroadcastTo(dst.shape());
  if (!from.ok()) return from.status();
  if (dst.num_elements() == 0) return absl::OkStatus();
  if (dst.device() == src.device() && MayOverlap(dst, src)) {
    absl::StatusOr<Tensor> aside = Copied(src, {.stream = stream});
    if (!aside.ok()) return aside.status();
    from = aside->BroadcastTo(dst.shape());
    if (!from.ok()) return from.status();
  }
  return move(dst, *from);
}

absl::Status Wait(const std::optional<Stream>& stream) {
  if (!stream) return absl::OkStatus();
  absl::StatusOr<DeviceBackend*> backend = BackendFor(stream->device());
  return backend.ok() ? AwaitStream(**backend, *stream) : backend.status();
}

absl::Status CopySameType(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream,
                          Transfer transfer = Transfer::kCopy) {
  return Prepare(dst, src, stream, [&](const Tensor& to, const Tensor& from) {
    return CopyElements(transfer, to, from, stream);
  });
}

// Casts on the host, for devices without casts. Copies the source to the host and the result to the
// device as needed.
absl::Status CastOnHost(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  Tensor from = src;
  if (!IsHostAccessible(src.device().type)) {
    absl::StatusOr<Tensor> fetched = Copied(src, {.device = Device::Cpu(), .stream = stream});
    if (!fetched.ok()) return fetched.status();
    from = *std::move(fetched);
  }
  if (absl::Status s = Wait(stream); !s.ok()) return s;
  for (const Tensor* tensor : {&dst, static_cast<const Tensor*>(&from)}) {
    if (absl::Status s = tensor->storage()->Synchronize(); !s.ok()) return s;
  }
  if (IsHostAccessible(dst.device().type)) {
    absl::StatusOr<DeviceBackend*> host = BackendFor(Device::Cpu());
    if (!host.ok()) return host.status();
    absl::StatusOr<Tensor> broadcast = from.BroadcastTo(dst.shape());
    if (!broadcast.ok()) return broadcast.status();
    return (*host)->CastCopy(dst.view(), broadcast->view(), Stream::Default(Device::Cpu()));
  }
  absl::StatusOr<Tensor> cast = Copied(from, {.dtype = dst.dtype(), .device = Device::Cpu()});
  if (!cast.ok()) return cast.status();
  absl::Status status = CopySameType(dst, *cast, stream);
  // `cast` is freed when this call returns.
  return status.ok() ? Wait(stream) : status;
}

// Makes `stream` current if it belongs to `device`. New memory on that device is then ready for use
// on the stream.
void EnterForAllocation(const std::optional<Stream>& stream, Device device,
                        std::optional<StreamScope>* scope) {
  if (stream && stream->device() == StreamDevice(device)) scope->emplace(*stream);
}

absl::Status CopyAny(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  if (dst.is_null() || src.is_null()) return internal_tensor::NullTensorError();
  if (dst.dtype() == src.dtype()) return CopySameType(dst, src, stream);
  return Prepare(dst, src, stream, [&](const Tensor& to, const Tensor& from) {
    absl::Status status = CopyElements(Transfer::kCast, to, from, stream);
    const Device device = CopyingDevice(to.device(), from.device());
    if (!absl::IsUnimplemented(status) || device == Device::Cpu()) return status;
    return CastOnHost(dst, src, stream);
  });
}

absl::Status FillAny(const Tensor& dst, const void* element, const std::optional<Stream>& stream) {
  if (dst.is_null()) return internal_tensor::NullTensorError();
  StorageRef storage = Storage::Adopt(const_cast<void*>(element), dst.dtype().itemsize(),
                                      Device::Cpu(), Storage::Release{});
  absl::StatusOr<Tensor> scalar =
      Tensor::Make(std::move(storage), 0, dst.dtype(), Layout(),
                   {.access = Access::kReadOnly, .packing = Packing::kPacked});
  if (!scalar.ok()) return scalar.status();
  return CopySameType(dst, *scalar, stream, Transfer::kFill);
}

}  // namespace

absl::Status CopyInto(Tensor& dst, const Tensor& src, const CopyOptions& options) {
  return CopyAny(dst, src, options.stream);
}

absl::Status CopyInto(Tensor&& dst, const Tensor& src, const CopyOptions& options) {
  return CopyAny(dst, src, options.stream);
}

absl::StatusOr<Tensor> Copied(const Tensor& src, const CopiedOptions& options) {
  if (src.is_null()) return internal_tensor::NullTensorError();
  if (absl::Status s = NoCopiesScope::Check(); !s.ok()) return s;
  const Device device = options.device.value_or(src.device());
  const DType dtype = options.dtype.value_or(src.dtype());
  std::optional<StreamScope> scope;
  EnterForAllocation(options.stream, device, &scope);
  absl::StatusOr<Tensor> dst = EmptyInOrder(src.layout(), options.order, dtype, device);
  if (!dst.ok() || dst->num_elements() == 0) return dst;
  // New memory overlaps nothing, and its shape is the source's.
  absl::Status status = dtype == src.dtype()
                            ? CopyElements(Transfer::kCopy, *dst, src, options.stream)
                            : CopyAny(*dst, src, options.stream);
  if (!status.ok()) return status;
  return dst;
}

absl::StatusOr<Tensor> AsContiguous(const Tensor& src, const CopyOptions& options) {
  if (src.is_null()) return internal_tensor::NullTensorError();
  if (src.is_contiguous()) return src;
  return Copied(src, {.stream = options.stream});
}

absl::Status Fill(Tensor& dst, const void* element, const CopyOptions& options) {
  return FillAny(dst, element, options.stream);
}

absl::Status Fill(Tensor&& dst, const void* element, const CopyOptions& options) {
  return FillAny(dst, element, options.stream);
}

absl::Status Copy(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  if (dst.is_null() || src.is_null()) return internal_tensor::NullTensorError();
  if (dst.dtype() != src.dtype()) {
    return absl::InvalidArgumentError(absl::StrCat("The types differ: ", dst.dtype().ToString(),
                                                   " and ", src.dtype().ToString(), "."));
  }
  return CopySameType(dst, src, stream);
}

absl::Status CopyCast(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  return CopyAny(dst, src, stream);
}

absl::StatusOr<Tensor> CopyTo(const Tensor& src, Device device,
                              const std::optional<Stream>& stream) {
  return Copied(src, {.device = device, .stream = stream});
}

absl::StatusOr<Tensor> CopyAs(const Tensor& src, const CopyTarget& target,
                              const std::optional<Stream>& stream) {
  return Copied(
      src,
      {.dtype = target.dtype, .device = target.device, .order = target.order, .stream = stream});
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
