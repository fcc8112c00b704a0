#include "dovetail/core/copy.h"

#include "dovetail/core/device_backend.h"
#include "dovetail/core/internal/copy_through_host.h"
#include "dovetail/core/internal/host_wait.h"
#include "dovetail/core/internal/memory_order.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/core/trace/traced.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using internal_trace::AwaitStream;
using internal_trace::Traced;

// Whether the elements of two tensors may share bytes. Addresses decide, whatever the devices are
// called: pinned memory may be known as the CPU's, too. Opaque handles are compared on one device.
bool MayOverlap(const Tensor& a, const Tensor& b) {
  const bool are_addresses = IsAddressable(a.device().type) && IsAddressable(b.device().type);
  if (!are_addresses && (a.device() != b.device() || a.raw_data() != b.raw_data())) return false;
  ByteRange x, y;
  if (!BytesReached(a.layout(), a.dtype(), a.packing(), &x).ok() ||
      !BytesReached(b.layout(), b.dtype(), b.packing(), &y).ok()) {
    return true;
  }
  const auto origin = [&](const Tensor& t) {
    return are_addresses ? reinterpret_cast<intptr_t>(t.raw_data()) : t.byte_offset();
  };
  const int64_t p = origin(a), q = origin(b);
  return p + x.begin < q + y.end && q + y.begin < p + x.end;
}

enum class Transfer { kCopy, kCast, kFill };

// One copy, cast or fill of elements. The tensors have the same shape and do not overlap.
struct Work {
  Transfer transfer;
  const Tensor& dst;
  const Tensor& src;
  const std::optional<Stream>& stream;
  // The source is memory of the host that is gone when the call returns.
  bool src_is_brief = false;

  // The device that performs it: one whose own memory takes part, else one that is not the CPU.
  Device device() const {
    const Device to = dst.device(), from = src.device();
    if (to.type == DeviceType::kCpu) return from;
    return IsHostAccessible(to.type) && !IsHostAccessible(from.type) ? from : to;
  }
  // Whether earlier work on either tensor was recorded.
  bool has_uses() const {
    return dst.storage()->uses() != nullptr || src.storage()->uses() != nullptr;
  }
  // Whether a call that has enqueued it returns only when it is done. The uses of the CPU's memory
  // are not recorded, and some of it may be pinned: its owner may free it after the call.
  bool keeps_the_host() const {
    const DeviceType to = dst.device().type, from = src.device().type;
    return src_is_brief || to == DeviceType::kCpu || from == DeviceType::kCpu ||
           (!stream && (IsHostAccessible(to) || IsHostAccessible(from)));
  }
};

bool IsOfCpu(const Stream& stream) { return stream.device().type == DeviceType::kCpu; }

// Orders the earlier work on a tensor before `on`. For the stream of the CPU, the host waits.
absl::Status OrderBefore(const Stream& on, const Tensor& tensor) {
  return IsOfCpu(on) ? tensor.storage()->Synchronize() : tensor.storage()->OrderBefore(on);
}

absl::Status Wait(const Stream& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(stream.device());
  return backend.ok() ? AwaitStream(**backend, stream) : backend.status();
}

absl::Status Do(const Work& work, DeviceBackend* backend, const Stream& on) {
  return work.transfer == Transfer::kCast ? backend->CastCopy(work.dst.view(), work.src.view(), on)
                                          : backend->Copy(work.dst.view(), work.src.view(), on);
}

// Unimplemented if the work is no fill or the backend can't read the element in advance.
absl::Status TryFill(const Work& work, DeviceBackend* backend, const Stream& on) {
  if (work.transfer != Transfer::kFill || IsHostAccessible(work.dst.device().type)) {
    return absl::UnimplementedError("");
  }
  return backend->Fill(work.dst.view(), work.src.raw_data(), on);
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

// Whether a backend does not do the work on that stream, or in its present state.
bool IsRefusal(const absl::Status& s) {
  return absl::IsFailedPrecondition(s) || absl::IsInvalidArgument(s) || absl::IsNotFound(s);
}

absl::Status CopyElementsOn(const Stream& on, const Work& work);

// For work on the CPU, which is done when the call returns, and a stream of another device. (Out of
// line, so that most work needs a smaller stack frame.)
[[gnu::noinline]] absl::Status CopyOnCpuAfter(const Stream& stream, const Work& work) {
  absl::Status waited = Wait(stream);
  return waited.ok() ? CopyElementsOn(Stream::Default(Device::Cpu()), work) : waited;
}

absl::Status CopyElementsOn(const Stream& on, const Work& work) {
  const bool is_on_cpu = work.device().type == DeviceType::kCpu;
  if (is_on_cpu && !IsOfCpu(on)) [[unlikely]]
    return CopyOnCpuAfter(on, work);
  absl::StatusOr<DeviceBackend*> backend = BackendFor(on.device());
  if (!backend.ok()) return backend.status();
  if (is_on_cpu && !work.has_uses()) [[likely]]
    return Do(work, *backend, on);
  if (NeedsTheHost(work.dst.device(), work.src.device())) {
    if (work.transfer != Transfer::kCast) return CopyThroughHost(work.dst, work.src, work.stream);
    return absl::UnimplementedError("No backend casts between these devices.");
  }
  for (const Tensor* tensor : {&work.dst, &work.src}) {
    if (absl::Status s = OrderBefore(on, *tensor); !s.ok()) return s;
  }
  if (is_on_cpu) return Do(work, *backend, on);
  absl::Status done = TryFill(work, *backend, on);
  const bool is_filled = done.ok();
  if (absl::IsUnimplemented(done)) done = Do(work, *backend, on);
  if (absl::IsUnimplemented(done) && work.transfer == Transfer::kCast) return done;
  // A copy that failed half-way may have left work on both. For that of a refused one the host
  // waits: later work may not be able to wait for the stream, which may be captured, or missing.
  const bool is_refused = IsRefusal(done);
  if (!is_refused) {
    work.dst.storage()->RecordUse(on);
    work.src.storage()->RecordUse(on);
  }
  if (is_filled || !(is_refused || work.keeps_the_host())) return done;
  absl::Status waited = AwaitStream(**backend, on);
  return done.ok() ? waited : done;
}

TraceEvent EventOf(const Work& work, const Stream& on) {
  return {.kind = KindOf(work.transfer),
          .dtype = work.src.dtype(),
          .shape = work.dst.shape(),
          .nbytes = work.dst.nbytes(),
          .device = work.src.device(),
          .to_dtype = work.dst.dtype(),
          .to_device = work.dst.device(),
          .stream = &on};
}

absl::Status CopyElements(const Work& work) {
  const Stream on = work.stream ? *work.stream : CurrentStream(work.device());
  return Traced([&] { return EventOf(work, on); }, [&] { return CopyElementsOn(on, work); });
}

absl::Status CastInSteps(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream);

absl::Status CopyChecked(Transfer transfer, const Tensor& dst, const Tensor& src,
                         const std::optional<Stream>& stream, bool src_is_brief);

// The tensors share memory: the source is set aside. Work on that memory may have been recorded
// with the destination alone.
[[gnu::noinline]] absl::Status CopyOverlapping(Transfer transfer, const Tensor& dst,
                                               const Tensor& src,
                                               const std::optional<Stream>& stream) {
  const bool is_on_host = src.device().type == DeviceType::kCpu;
  const Stream on = stream && !is_on_host ? *stream : CurrentStream(src.device());
  if (absl::Status s = OrderBefore(on, dst); !s.ok()) return s;
  absl::StatusOr<Tensor> aside = Copied(src, {.stream = on});
  if (!aside.ok()) return aside.status();
  return CopyChecked(transfer, dst, *aside, stream, /*src_is_brief=*/is_on_host);
}

// `repeated` is `src` in the shape of `dst`.
absl::Status CopyRepeated(Transfer transfer, const Tensor& dst, const Tensor& src,
                          const Tensor& repeated, const std::optional<Stream>& stream,
                          bool src_is_brief) {
  if (dst.num_elements() == 0) return absl::OkStatus();
  if (MayOverlap(dst, src)) [[unlikely]]
    return CopyOverlapping(transfer, dst, src, stream);
  const Work work{transfer, dst, repeated, stream, src_is_brief};
  absl::Status status = CopyElements(work);
  const bool is_missing = transfer == Transfer::kCast && absl::IsUnimplemented(status);
  if (!is_missing || work.device() == Device::Cpu()) return status;
  return CastInSteps(dst, src, stream);
}

// Checks access, broadcasts the source, sets it aside if the two overlap, and copies.
absl::Status CopyChecked(Transfer transfer, const Tensor& dst, const Tensor& src,
                         const std::optional<Stream>& stream, bool src_is_brief) {
  if (dst.is_read_only()) {
    return absl::FailedPreconditionError("The destination is read-only.");
  }
  if (src.shape() == dst.shape()) {
    return CopyRepeated(transfer, dst, src, src, stream, src_is_brief);
  }
  absl::StatusOr<Tensor> repeated = src.BroadcastTo(dst.shape());
  if (!repeated.ok()) return repeated.status();
  return CopyRepeated(transfer, dst, src, *repeated, stream, src_is_brief);
}

// `stream` if it is one of the tensor's device. Work on a device of another stream is on its
// current one.
std::optional<Stream> StreamOf(const Tensor& t, const std::optional<Stream>& stream) {
  const bool is_own = stream && stream->device() == StreamDevice(t.device());
  return is_own ? stream : std::nullopt;
}

// Casts memory that the host accesses, whatever its device is called.
absl::Status CastHostMemory(const Tensor& dst, const Tensor& src) {
  absl::StatusOr<DeviceBackend*> host = BackendFor(Device::Cpu());
  if (!host.ok()) return host.status();
  absl::StatusOr<Tensor> repeated = src.BroadcastTo(dst.shape());
  if (!repeated.ok()) return repeated.status();
  const Stream on = Stream::Default(Device::Cpu());
  return Traced([&] { return EventOf({Transfer::kCast, dst, *repeated, std::nullopt}, on); },
                [&] { return (*host)->CastCopy(dst.view(), repeated->view(), on); });
}

// Casts on the host, for devices without casts. Copies the source to the host and the result to the
// device as needed. The host waits for both.
absl::Status CastOnHost(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  Tensor from = src;
  const bool fetches = !IsHostAccessible(src.device().type);
  if (stream && !(fetches && StreamOf(src, stream))) {
    if (absl::Status s = Wait(*stream); !s.ok()) return s;
  }
  if (fetches) {
    absl::StatusOr<Tensor> fetched =
        Copied(src, {.device = Device::Cpu(), .stream = StreamOf(src, stream)});
    if (!fetched.ok()) return fetched.status();
    from = *std::move(fetched);
  }
  if (absl::Status s = from.storage()->Synchronize(); !s.ok()) return s;
  if (IsHostAccessible(dst.device().type)) {
    if (absl::Status s = dst.storage()->Synchronize(); !s.ok()) return s;
    return CastHostMemory(dst, from);
  }
  absl::StatusOr<Tensor> cast = Copied(from, {.dtype = dst.dtype(), .device = Device::Cpu()});
  if (!cast.ok()) return cast.status();
  return CopyChecked(Transfer::kCopy, dst, *cast, StreamOf(dst, stream), /*src_is_brief=*/true);
}

// What a backend says of a cast of these types within `device`.
absl::Status AskForCast(Device device, DType to, DType from) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(device);
  if (!backend.ok()) return backend.status();
  const int64_t none = 0, step = 1;
  const auto view = [&](DType dtype) -> TensorView {
    return {.device = device, .dtype = dtype, .shape = {&none, 1}, .strides = {&step, 1}};
  };
  return (*backend)->CastCopy(view(to), view(from), CurrentStream(device));
}

// Later work of `then` starts after the current work of `first`.
absl::Status OrderStreams(const Stream& first, const Stream& then) {
  absl::StatusOr<DeviceBackend*> of_first = BackendFor(first.device());
  if (!of_first.ok()) return of_first.status();
  absl::StatusOr<DeviceBackend*> of_then = BackendFor(then.device());
  if (!of_then.ok()) return of_then.status();
  absl::StatusOr<Event> event = (*of_first)->Record(first);
  return event.ok() ? (*of_then)->Wait(then, *event) : event.status();
}

// The two steps of a cast between two devices, of which the source's casts.
absl::Status CastAndSend(const Tensor& dst, const Tensor& src,
                         const std::optional<Stream>& stream) {
  const std::optional<Stream> own = StreamOf(src, stream);
  if (stream && !own) {
    absl::Status s = OrderStreams(*stream, CurrentStream(src.device()));
    if (!s.ok()) return s;
  }
  absl::StatusOr<Tensor> cast = Copied(src, {.dtype = dst.dtype(), .stream = own});
  if (!cast.ok()) return cast.status();
  return CopyChecked(Transfer::kCopy, dst, *cast, stream, /*src_is_brief=*/false);
}

// The same where the destination's device casts.
absl::Status SendAndCast(const Tensor& dst, const Tensor& src,
                         const std::optional<Stream>& stream) {
  absl::StatusOr<Tensor> sent = Copied(src, {.device = dst.device(), .stream = stream});
  if (!sent.ok()) return sent.status();
  const std::optional<Stream> own = StreamOf(dst, stream);
  // What comes from the CPU is done when the call returns, although this step reads a copy.
  const bool is_from_host = src.device().type == DeviceType::kCpu;
  absl::Status s = CopyChecked(Transfer::kCast, dst, *sent, own, is_from_host);
  if (!s.ok() || !stream || own) return s;
  return OrderStreams(CurrentStream(dst.device()), *stream);
}

// A cast that no backend does in one step, as between two devices. The elements cross as those of
// the smaller type, if the device on that side casts.
absl::Status CastInSteps(const Tensor& dst, const Tensor& src,
                         const std::optional<Stream>& stream) {
  const DType to = dst.dtype(), from = src.dtype();
  // Before any element moves.
  absl::Status on_host = AskForCast(Device::Cpu(), to, from);
  if (!on_host.ok()) return on_host;
  if (dst.device() == src.device()) return CastOnHost(dst, src, stream);
  const bool is_scalar_of_host = src.num_elements() == 1 && IsHostAccessible(src.device().type);
  const bool before = to.element_bits() < from.element_bits() || is_scalar_of_host;
  const Device device = before ? src.device() : dst.device();
  if (IsHostAccessible(device.type) || !AskForCast(device, to, from).ok()) {
    return CastOnHost(dst, src, stream);
  }
  absl::Status s = before ? CastAndSend(dst, src, stream) : SendAndCast(dst, src, stream);
  // A cast on the host allocates nothing on the device.
  return absl::IsResourceExhausted(s) ? CastOnHost(dst, src, stream) : s;
}

// Makes `stream` current if it belongs to `device`. New memory on that device is then ready for use
// on the stream.
void EnterForAllocation(const std::optional<Stream>& stream, Device device,
                        std::optional<StreamScope>* scope) {
  if (stream && stream->device() == StreamDevice(device)) scope->emplace(*stream);
}

absl::Status CopyAny(const Tensor& dst, const Tensor& src, const std::optional<Stream>& stream) {
  if (dst.is_null() || src.is_null()) return internal_tensor::NullTensorError();
  const bool is_cast = dst.dtype() != src.dtype();
  return CopyChecked(is_cast ? Transfer::kCast : Transfer::kCopy, dst, src, stream,
                     /*src_is_brief=*/false);
}

absl::Status FillAny(const Tensor& dst, const void* element, const std::optional<Stream>& stream) {
  if (dst.is_null()) return internal_tensor::NullTensorError();
  StorageRef storage = Storage::Adopt(const_cast<void*>(element), dst.dtype().itemsize(),
                                      Device::Cpu(), Storage::Release{});
  const Tensor scalar =
      internal_tensor::MakeUnchecked(std::move(storage), 0, dst.dtype(), Layout(),
                                     {.access = Access::kReadOnly, .packing = Packing::kPacked});
  return CopyChecked(Transfer::kFill, dst, scalar, stream, /*src_is_brief=*/true);
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
                            ? CopyElements({Transfer::kCopy, *dst, src, options.stream})
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

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
