// The Copier's casts. Both sides are memory that the stream's device reaches.

#include <numeric>

#include "absl/strings/str_cat.h"
#include "dovetail/core/registry.h"
#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/devices/gpu/planning/cast.h"
#include "dovetail/devices/gpu/planning/launches.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// The CPU makes the tables, so that they follow its rules.
absl::Status MakeCastTable(DType from, DType to, unsigned char* table) {
  absl::StatusOr<DeviceBackend*> cpu = BackendFor(Device::Cpu());
  if (!cpu.ok()) return cpu.status();
  unsigned char codes[256];
  std::iota(std::begin(codes), std::end(codes), static_cast<unsigned char>(0));
  const int64_t count = 256, step = 1;
  const auto view = [&](void* data, DType dtype) -> TensorView {
    return {.data = data, .dtype = dtype, .shape = {&count, 1}, .strides = {&step, 1}};
  };
  return (*cpu)->CastCopy(view(table, to), view(codes, from), Stream::Default(Device::Cpu()));
}

}  // namespace

bool Copier::HasAllKernels(int device) {
  return modules_.Has(device) && modules_.Limits(device).kernels == KernelSet::kAll;
}

absl::Status Copier::Cast(const TensorView& dst, const TensorView& src, const Stream& stream) {
  Runtime& runtime = context_.runtime;
  const auto within_one = [] {
    return absl::UnimplementedError(
        "A kernel casts within one device; the elements are copied before or after it.");
  };
  for (const TensorView* view : {&dst, &src}) {
    if (view->device.type == DeviceType::kCpu) return within_one();
    if (absl::Status s = runtime.CheckDevice(view->device); !s.ok()) return s;
  }
  if (absl::Status s = runtime.CheckDevice(stream.device()); !s.ok()) return s;
  const Job job{dst, src, stream, runtime.Native(stream), StreamDevice(stream.device()).index};
  if (job.IsFar(dst) || job.IsFar(src)) return within_one();
  const bool on_device = job.IsDeviceMemory(dst) && job.IsDeviceMemory(src);
  if (!on_device && ((IsHostAccessible(dst.device.type) && IsHostAccessible(src.device.type)) ||
                     !runtime.Info(job.device).maps_pinned_host)) {
    return absl::UnimplementedError("The host casts its own memory.");
  }
  DeviceGuard guard(runtime, job.device);
  if (!guard.ok()) return guard.status();
  if (!HasAllKernels(job.device)) {
    return absl::UnimplementedError(
        absl::StrCat("No kernels cast on ", runtime.DeviceAt(job.device).ToString(), "."));
  }
  MergedCast cast;
  if (absl::Status s = MergeCast(dst, src, &cast); !s.ok()) return s;
  if (cast.elements.run_bytes == 0) return absl::OkStatus();
  absl::Status s;
  if (cast.from == cast.to) {
    s = CopyLoops(job, cast.elements);
  } else {
    s = ForEachCastLaunch(
        cast, MakeCastTable,
        [&](const CastLaunch& launch) {
          return modules_.Launch(job.device, launch.kernel, launch.blocks, launch.arguments,
                                 job.native);
        },
        modules_.Limits(job.device));
  }
  if (!s.ok() || !cast.zeros) return s;
  const unsigned char zero[16] = {};
  return FillLoops(job, *cast.zeros, zero, cast.zeros->run_bytes);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
