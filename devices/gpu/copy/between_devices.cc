// The Copier's copies between two devices of the vendor. One of them, the near one, is the
// stream's.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/devices/gpu/copy/copy_steps.h"
#include "dovetail/devices/gpu/copy/sent_block.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// A stream of its own would be made anew for each copy. This one orders the copies of all threads
// among each other.
absl::StatusOr<Stream> Copier::InnerStream(Device device) {
  const auto index = static_cast<size_t>(device.index);
  absl::MutexLock lock(&mutex_);
  if (inner_streams_.size() <= index) inner_streams_.resize(index + 1);
  std::optional<Stream>& stream = inner_streams_[index];
  if (!stream) {
    absl::StatusOr<Stream> made = context_.streams.Create(device);
    if (!made.ok()) return made.status();
    stream = *std::move(made);
  }
  return *stream;
}

absl::Status Copier::CopyBetweenDevices(const Job& job, const MergedCopy& copy) {
  const TensorView& far = job.IsFar(job.src) ? job.src : job.dst;
  peers_.Connect(job.device, far.device.index);  // for the driver's copies, too
  if (modules_.Has(job.device) && peers_.Reach(job.device, far.data, far.device.index)) {
    return CopyLoops(job, copy);
  }
  absl::StatusOr<bool> capturing = context_.streams.IsCapturing(job.stream);
  if (!capturing.ok()) return capturing.status();
  if (*capturing) {
    return absl::FailedPreconditionError(absl::StrCat(
        "A copy from ", job.src.device.ToString(), " to ", job.dst.device.ToString(),
        " that changes the order of the elements can't be captured into a graph: no kernel reaches "
        "both sides, so that it needs temporary memory. Capture a dense copy, and change the order "
        "on one device."));
  }
  return job.IsFar(job.src) ? SendFromFar(job) : SendToFar(job);
}

absl::Status Copier::Send(const TensorView& dst, const TensorView& src, void* to, const void* from,
                          size_t nbytes, const Stream& stream) {
  Runtime& runtime = context_.runtime;
  DeviceGuard guard(runtime, stream.device().index);
  if (!guard.ok()) return guard.status();
  const RuntimeApi& api = runtime.api();
  return runtime.Check(
      api.copy_peer_async(api.self, to, dst.device.index, from, src.device.index, nbytes,
                          runtime.Native(stream)),
      absl::StrCat("copying from ", src.device.ToString(), " to ", dst.device.ToString()));
}

// dst is near.
absl::Status Copier::SendFromFar(const Job& job) {
  const TensorView &dst = job.dst, &src = job.src;
  CopySteps steps(context_, temporaries_, job.stream);
  const SentBlock from(src, dst);
  if (from.is_dense()) {
    absl::StatusOr<void*> received = steps.Allocate(from.nbytes(), job.stream);
    if (!received.ok()) return received.status();
    absl::Status s = Send(dst, src, *received, from.own_data(), from.nbytes(), job.stream);
    return s.ok() ? Copy(dst, from.Image(*received, dst.device), job.stream) : s;
  }
  absl::StatusOr<Stream> afar = InnerStream(src.device);
  if (!afar.ok()) return afar.status();
  const SentBlock into(dst, dst);
  const SentBlock& block = into.is_dense() ? into : from;
  void* received = into.own_data();
  if (!into.is_dense()) {
    absl::StatusOr<void*> made = steps.Allocate(block.nbytes(), job.stream);
    if (!made.ok()) return made.status();
    received = *made;
  }
  absl::StatusOr<void*> packed = steps.Allocate(block.nbytes(), *afar);
  if (!packed.ok()) return packed.status();
  if (absl::Status s = steps.Fork(*afar); !s.ok()) return s;
  absl::Status s = into.is_dense()
                       ? Copy(into.Image(*packed, src.device), src, *afar)
                       : Copy(from.ImageOfOnce(*packed, src.device), from.once(), *afar);
  if (s.ok()) s = Send(dst, src, received, *packed, block.nbytes(), *afar);
  if (s.ok()) s = steps.Join();
  if (!s.ok() || into.is_dense()) return s;
  return Copy(dst, from.Image(received, dst.device), job.stream);
}

// src is near.
absl::Status Copier::SendToFar(const Job& job) {
  const TensorView &dst = job.dst, &src = job.src;
  CopySteps steps(context_, temporaries_, job.stream);
  const SentBlock from(src, dst), into(dst, dst);
  const bool sends_in_place = into.is_dense() && !(from.is_dense() && from.repeats());
  const SentBlock& block = sends_in_place ? into : from;
  void* packed = from.own_data();
  if (sends_in_place || !from.is_dense()) {
    absl::StatusOr<void*> made = steps.Allocate(block.nbytes(), job.stream);
    if (!made.ok()) return made.status();
    packed = *made;
    absl::Status s = sends_in_place
                         ? Copy(into.Image(packed, src.device), src, job.stream)
                         : Copy(from.ImageOfOnce(packed, src.device), from.once(), job.stream);
    if (!s.ok()) return s;
  }
  if (sends_in_place) {
    return Send(dst, src, into.own_data(), packed, block.nbytes(), job.stream);
  }
  absl::StatusOr<Stream> afar = InnerStream(dst.device);
  if (!afar.ok()) return afar.status();
  absl::StatusOr<void*> received = steps.Allocate(block.nbytes(), *afar);
  if (!received.ok()) return received.status();
  if (absl::Status s = steps.Fork(*afar); !s.ok()) return s;
  absl::Status s = Send(dst, src, *received, packed, block.nbytes(), *afar);
  if (s.ok()) s = Copy(dst, from.Image(*received, dst.device), *afar);
  return s.ok() ? steps.Join() : s;
}

// Copies the bytes of both sides to the host, copies the elements there, and sends dst's bytes
// back. Each side's bytes move on a stream of its own device.
absl::Status Copier::CopyThroughHost(const Job& job) {
  if (absl::Status s = CheckMayWait(job); !s.ok()) return s;
  CopySteps steps(context_, temporaries_, job.stream);
  std::optional<Stream> afar;
  for (const TensorView* view : {&job.dst, &job.src}) {
    if (!job.IsFar(*view)) continue;
    absl::StatusOr<Stream> inner = InnerStream(view->device);
    if (!inner.ok()) return inner.status();
    if (absl::Status s = steps.Fork(*inner); !s.ok()) return s;
    afar = *std::move(inner);
  }
  auto move = [&](const TensorView& of, const TensorView& to, const TensorView& from) {
    const Stream& stream = job.IsFar(of) ? *afar : job.stream;
    absl::Status s = Copy(to, from, stream);
    return s.ok() ? context_.streams.Synchronize(stream) : s;
  };
  HostCopy dst(job.dst), src(job.src);
  for (HostCopy* side : {&dst, &src}) {
    const TensorView& view = side->view();
    if (view.device.type == DeviceType::kCpu) continue;
    if (absl::Status s = move(view, side->host_bytes(), side->device_bytes()); !s.ok()) return s;
  }
  absl::StatusOr<DeviceBackend*> cpu = BackendFor(Device::Cpu());
  if (!cpu.ok()) return cpu.status();
  absl::Status s = (*cpu)->Copy(dst.host_view(), src.host_view(), Stream::Default(Device::Cpu()));
  if (!s.ok() || job.dst.device.type == DeviceType::kCpu) return s;
  return move(job.dst, dst.device_bytes(), dst.host_bytes());
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
