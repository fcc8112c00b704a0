#include "dovetail/devices/gpu/copy/copier.h"

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/copy/copy_chunks.h"
#include "dovetail/devices/gpu/copy/copy_steps.h"
#include "dovetail/devices/gpu/planning/launches.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

bool IsPlainHost(const TensorView& view) { return view.device.type == DeviceType::kCpu; }

// Whether the view repeats one element everywhere.
bool IsOneElement(const TensorView& view) {
  for (int i = 0; i < view.rank(); ++i) {
    if (view.shape[i] > 1 && view.strides[i] != 0) return false;
  }
  return true;
}

absl::Status CopyOnCpu(const TensorView& dst, const TensorView& src) {
  absl::StatusOr<DeviceBackend*> cpu = BackendFor(Device::Cpu());
  if (!cpu.ok()) return cpu.status();
  return (*cpu)->Copy(dst, src, Stream::Default(Device::Cpu()));
}

TensorView OnCpu(TensorView view) {
  view.device = Device::Cpu();
  return view;
}

}  // namespace

absl::Status Copier::Copy(const TensorView& dst, const TensorView& src, const Stream& stream) {
  Runtime& runtime = context_.runtime;
  for (const TensorView* view : {&dst, &src}) {
    if (IsPlainHost(*view)) continue;
    if (absl::Status s = runtime.CheckDevice(view->device); !s.ok()) return s;
  }
  if (absl::Status s = runtime.CheckDevice(stream.device()); !s.ok()) return s;
  const Device on = StreamDevice(stream.device());
  const Job job{dst, src, stream, runtime.Native(stream), on.index};
  if (IsPlainHost(dst) || IsPlainHost(src)) {
    if (absl::Status s = CheckMayWait(job); !s.ok()) return s;
  }
  // Without the device, on which pinned memory alone must not make a context.
  if (IsHostAccessible(dst.device.type) && IsHostAccessible(src.device.type) &&
      (IsPlainHost(dst) || IsPlainHost(src) || runtime.IsUntouched(stream))) {
    if (absl::Status s = context_.streams.Synchronize(stream); !s.ok()) return s;
    return CopyOnCpu(OnCpu(dst), OnCpu(src));
  }
  DeviceGuard guard(runtime, on.index);
  if (!guard.ok()) return guard.status();
  const bool crosses = job.IsFar(dst) || job.IsFar(src);
  if (crosses &&
      !(job.IsDeviceMemory(dst) && job.IsDeviceMemory(src) && job.IsFar(dst) != job.IsFar(src))) {
    return absl::InvalidArgumentError(
        absl::StrCat("A copy from ", src.device.ToString(), " to ", dst.device.ToString(),
                     " can't be ordered on ", stream.ToString(), "; pass a stream of either."));
  }
  MergedCopy copy;
  absl::Status merged = MergeCopy(dst, src, &copy);
  if (absl::IsUnimplemented(merged)) return CopyThroughHost(job);
  if (!merged.ok() || copy.run_bytes == 0) return merged;
  if (copy.loops.empty()) return CopyRun(job, copy);
  if (crosses) return CopyBetweenDevices(job, copy);
  if (IsPlainHost(src)) return CopyFromHost(job, dst, src);
  if (IsPlainHost(dst)) return CopyToHost(job, dst, src);
  return CopyLoops(job, copy);
}

// One contiguous run.
absl::Status Copier::CopyRun(const Job& job, const MergedCopy& copy) {
  const Runtime& runtime = context_.runtime;
  const RuntimeApi& api = runtime.api();
  const auto nbytes = static_cast<size_t>(copy.run_bytes);
  if (job.IsDeviceMemory(job.dst) && job.IsDeviceMemory(job.src) &&
      job.dst.device != job.src.device) {
    peers_.Connect(job.dst.device.index, job.src.device.index);
    return runtime.Check(api.copy_peer_async(api.self, copy.dst, job.dst.device.index, copy.src,
                                             job.src.device.index, nbytes, job.native),
                         absl::StrCat("copying from ", job.src.device.ToString(), " to ",
                                      job.dst.device.ToString()));
  }
  return runtime.Check(api.copy_async(api.self, copy.dst, copy.src, nbytes, job.native), "copying");
}

// The stream's device can access both sides.
absl::Status Copier::CopyLoops(const Job& job, const MergedCopy& copy) {
  Runtime& runtime = context_.runtime;
  const bool kernels_reach = (job.IsDeviceMemory(job.dst) && job.IsDeviceMemory(job.src)) ||
                             runtime.Info(job.device).maps_pinned_host;
  if (kernels_reach && modules_.Has(job.device)) {
    return ForEachCopyLaunch(
        copy,
        [&](const CopyLaunch& launch) {
          return modules_.Launch(job.device, launch.kernel, launch.blocks, &launch.arguments,
                                 job.native);
        },
        modules_.Limits(job.device));
  }
  const RuntimeApi& api = runtime.api();
  return ForEachPitchedCopy(copy, [&](const PitchedCopy& rectangle) {
    const auto width = static_cast<size_t>(rectangle.width),
               height = static_cast<size_t>(rectangle.height);
    return runtime.Check(
        height == 1
            ? api.copy_async(api.self, rectangle.dst, rectangle.src, width, job.native)
            : api.copy_2d_async(api.self, rectangle.dst, static_cast<size_t>(rectangle.dst_pitch),
                                rectangle.src, static_cast<size_t>(rectangle.src_pitch), width,
                                height, job.native),
        "copying rows");
  });
}

absl::Status Copier::CopyReachable(const Job& job, const TensorView& dst, const TensorView& src) {
  MergedCopy copy;
  if (absl::Status s = MergeCopy(dst, src, &copy); !s.ok()) return s;
  return copy.loops.empty() ? CopyRun(job, copy) : CopyLoops(job, copy);
}

absl::Status Copier::CheckMayWait(const Job& job) {
  absl::StatusOr<bool> capturing = context_.streams.IsCapturing(job.stream);
  if (!capturing.ok()) return capturing.status();
  if (!*capturing) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "A copy between ", job.dst.device.ToString(), " and ", job.src.device.ToString(),
      " can't be captured into a graph, since the host takes part; use pinned memory (",
      context_.runtime.PinnedAt(job.device).ToString(), "), or copy before the capture."));
}

absl::Status Copier::CopyFromHost(const Job& job, const TensorView& dst, const TensorView& src) {
  if (IsOneElement(src) && StepBits(src.dtype, src.packing) % 8 == 0) {
    absl::Status filled = FillDevice(job, dst, src.data);
    if (!absl::IsUnimplemented(filled)) return filled;
  }
  const Device pinned = context_.runtime.PinnedAt(job.device);
  return ForEachChunk(CopyChunk(dst, src), kStagingBytes, [&](const CopyChunk& chunk) {
    absl::StatusOr<StagingBlock> block = staging_.Take(static_cast<size_t>(chunk.nbytes()));
    if (!block.ok()) return block.status();
    absl::Status s = CopyOnCpu(chunk.Dense(block->data, Device::Cpu(), dst), chunk.src());
    if (s.ok()) s = CopyReachable(job, chunk.dst(), chunk.Dense(block->data, pinned, dst));
    GiveBackBlock(job, *block);
    return s;
  });
}

absl::Status Copier::CopyToHost(const Job& job, const TensorView& dst, const TensorView& src) {
  const Device pinned = context_.runtime.PinnedAt(job.device);
  struct Sent {
    CopyChunk chunk;
    StagingBlock block;
    Event arrived;
  };
  std::optional<Sent> sent;  // one block is unpacked while the next is being copied
  auto unpack = [&](Sent& done) {
    absl::Status s = context_.events.Synchronize(done.arrived);
    if (s.ok()) {
      s = CopyOnCpu(done.chunk.dst(), done.chunk.Dense(done.block.data, Device::Cpu(), src));
    }
    staging_.GiveBack(done.block, std::nullopt);
    return s;
  };
  absl::Status status =
      ForEachChunk(CopyChunk(dst, src), kStagingBytes, [&](const CopyChunk& chunk) {
        absl::StatusOr<StagingBlock> block = staging_.Take(static_cast<size_t>(chunk.nbytes()));
        if (!block.ok()) return block.status();
        absl::Status s = CopyReachable(job, chunk.Dense(block->data, pinned, src), chunk.src());
        absl::StatusOr<Event> arrived = context_.events.Record(job.stream);
        if (s.ok()) s = arrived.status();
        if (!s.ok()) {
          GiveBackBlock(job, *block);
          return s;
        }
        std::optional<Sent> before = std::exchange(sent, std::nullopt);
        sent.emplace(Sent{chunk, *block, *std::move(arrived)});
        return before ? unpack(*before) : absl::OkStatus();
      });
  if (sent) {
    absl::Status s = unpack(*sent);
    if (status.ok()) status = std::move(s);
  }
  return status;
}

// The block is reused after the stream's current work; leaked if no event can be recorded.
void Copier::GiveBackBlock(const Job& job, StagingBlock block) {
  absl::StatusOr<Event> used = context_.events.Record(job.stream);
  if (used.ok()) staging_.GiveBack(block, *std::move(used));
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
