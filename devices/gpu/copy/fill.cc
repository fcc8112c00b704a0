// The Copier's fills, and numbers that a kernel makes. The memory is of the stream's device.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "dovetail/core/packing.h"
#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/devices/gpu/planning/launches.h"
#include "dovetail/devices/gpu/planning/progression.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// The most pieces of an element that is filled piece by piece, one launch each.
constexpr int64_t kMostPieces = 8;

// Whether the pattern of `size` bytes repeats its first `width` ones.
bool Repeats(const unsigned char* pattern, int64_t size, int64_t width) {
  return size % width == 0 &&
         std::memcmp(pattern, pattern + width, static_cast<size_t>(size - width)) == 0;
}

// The width of the driver's fill that writes a run of the pattern at `dst`, or 0: the widest of 4,
// 2 and 1 bytes to which the run is aligned. A pattern of fewer bytes may be repeated.
int64_t RunWidth(const unsigned char* dst, int64_t nbytes, const unsigned char* pattern,
                 int64_t size) {
  for (int64_t width : {4, 2, 1}) {
    const bool is_aligned = (reinterpret_cast<uintptr_t>(dst) | static_cast<uintptr_t>(nbytes)) %
                                static_cast<uintptr_t>(width) ==
                            0;
    if (is_aligned && (size <= width ? width % size == 0 : Repeats(pattern, size, width))) {
      return width;
    }
  }
  return 0;
}

}  // namespace

// Work on memory of the stream's device, which is current meanwhile. Unimplemented for other
// memory.
absl::Status Copier::WithinDevice(const TensorView& dst, const Stream& stream,
                                  absl::FunctionRef<absl::Status(const Job&)> work) {
  Runtime& runtime = context_.runtime;
  if (absl::Status s = runtime.CheckDevice(dst.device); !s.ok()) return s;
  const Device on = StreamDevice(stream.device());
  if (dst.device != on)
    return absl::UnimplementedError("The memory is not of the stream's device.");
  DeviceGuard guard(runtime, on.index);
  if (!guard.ok()) return guard.status();
  return work({dst, dst, stream, runtime.Native(stream), on.index});
}

absl::Status Copier::Fill(const TensorView& dst, const void* element, const Stream& stream) {
  return WithinDevice(dst, stream, [&](const Job& job) { return FillDevice(job, dst, element); });
}

// One contiguous run, by the driver. A pattern has 1, 2 or 4 bytes.
absl::Status Copier::FillRun(const Job& job, unsigned char* dst, int64_t nbytes,
                             const void* pattern, int64_t width) {
  uint32_t value = 0;
  std::memcpy(&value, pattern, static_cast<size_t>(width));
  const RuntimeApi& api = context_.runtime.api();
  return context_.runtime.Check(api.fill_async(api.self, dst, value, static_cast<size_t>(width),
                                               static_cast<size_t>(nbytes / width), job.native),
                                "filling");
}

// Unimplemented if neither the driver nor a kernel has such a fill.
absl::Status Copier::FillDevice(const Job& job, const TensorView& dst, const void* element) {
  const int64_t size = dst.dtype.itemsize();
  const auto* pattern = static_cast<const unsigned char*>(element);
  if (StepBits(dst.dtype, dst.packing) % 8 != 0) {
    return absl::UnimplementedError("No fill of elements that share bytes.");
  }
  MergedCopy fill;
  if (absl::Status s = MergeFill(dst, &fill); !s.ok()) return s;
  if (fill.run_bytes == 0) return absl::OkStatus();
  if (fill.loops.empty()) {
    if (const int64_t width = RunWidth(fill.dst, fill.run_bytes, pattern, size); width > 0) {
      unsigned char repeated[4];
      for (int64_t i = 0; i < width; ++i) repeated[i] = pattern[i % size];
      return FillRun(job, fill.dst, fill.run_bytes, repeated, width);
    }
    if (fill.run_bytes == size && size <= 16) {  // a single element
      const int64_t width = reinterpret_cast<uintptr_t>(fill.dst) % 4 == 0 && size % 4 == 0 ? 4 : 1;
      absl::Status s;
      for (int64_t i = 0; s.ok() && i < size; i += width) {
        s = FillRun(job, fill.dst + i, width, pattern + i, width);
      }
      return s;
    }
  }
  const int64_t piece = std::min<int64_t>(size & -size, 16);  // the largest power of two
  if (size / piece > kMostPieces || !modules_.Has(job.device)) {
    return absl::UnimplementedError("No fill for this.");
  }
  if (size == piece) return FillLoops(job, fill, element, size);
  const int64_t count = fill.run_bytes / size;
  if (count > 1) fill.loops.push_back({count, size, size});
  fill.run_bytes = piece;
  absl::Status s;
  for (int64_t i = 0; s.ok() && i < size; i += piece, fill.dst += piece) {
    s = FillLoops(job, fill, pattern + i, piece);
  }
  return s;
}

// By kernels, with elements of `size` bytes: 1, 2, 4, 8 or 16.
absl::Status Copier::FillLoops(const Job& job, const MergedCopy& fill, const void* element,
                               int64_t size) {
  return ForEachFillLaunch(fill, element, size, [&](const FillLaunch& launch) {
    return modules_.Launch(job.device, launch.kernel, launch.blocks, &launch.arguments, job.native);
  });
}

absl::Status Copier::Arange(const TensorView& dst, const Progression& numbers,
                            const Stream& stream) {
  return WithinDevice(dst, stream, [&](const Job& job) -> absl::Status {
    if (!HasAllKernels(job.device)) return absl::UnimplementedError("No kernels for this.");
    return ForEachProgressionLaunch(
        dst, numbers,
        [&](const ProgressionLaunch& launch) {
          return modules_.Launch(job.device, launch.kernel, launch.blocks, &launch.arguments,
                                 job.native);
        },
        modules_.Limits(job.device));
  });
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
