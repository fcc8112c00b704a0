#include "dovetail/core/internal/copy_through_host.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "dovetail/core/copy.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/internal/host_wait.h"
#include "dovetail/core/registry.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using internal_trace::AwaitEvent;
using internal_trace::AwaitStream;

// In bytes. Large enough to hide the cost of starting a copy, small enough for two copies to
// overlap early.
constexpr size_t kChunkBytes = size_t{4} << 20;

struct Side {
  DeviceBackend* backend;
  Stream stream;
};

absl::StatusOr<Side> SideOf(Device device, const std::optional<Stream>& stream) {
  absl::StatusOr<DeviceBackend*> backend = BackendFor(device);
  if (!backend.ok()) return backend.status();
  if (stream && stream->device() == StreamDevice(device)) return Side{*backend, *stream};
  return Side{*backend, CurrentStream(device)};
}

absl::StatusOr<StorageRef> HostBlock(Device device, size_t nbytes) {
  absl::StatusOr<StorageRef> pinned =
      Storage::Allocate(nbytes, StreamDevice(device), MemoryKind::kPinnedHost);
  return pinned.ok() ? pinned : Storage::Allocate(nbytes, Device::Cpu());
}

// `nbytes` bytes at `data` as a one-dimensional view. `dims` holds its shape and stride, and must
// outlive it.
TensorView Bytes(void* data, Device device, int64_t nbytes, int64_t (&dims)[2]) {
  dims[0] = nbytes;
  dims[1] = 1;
  TensorView view;
  view.data = data;
  view.device = device;
  view.dtype = kUInt8;
  view.shape = absl::MakeSpan(&dims[0], 1);
  view.strides = absl::MakeSpan(&dims[1], 1);
  return view;
}

absl::Status CopyBytes(const Side& side, const TensorView& dst, const TensorView& src) {
  return side.backend->Copy(dst, src, side.stream);
}

// Copies between two dense tensors with the same number of bytes.
absl::Status CopyDense(const Tensor& dst, const Tensor& src, const Side& to, const Side& from) {
  const size_t nbytes = static_cast<size_t>(src.nbytes());
  StorageRef blocks[2];
  for (StorageRef& block : blocks) {
    absl::StatusOr<StorageRef> made = HostBlock(src.device(), std::min(nbytes, kChunkBytes));
    if (!made.ok()) return made.status();
    block = *std::move(made);
    if (nbytes <= kChunkBytes) break;
  }
  std::optional<Event> emptied[2];
  int64_t a[2], b[2];
  for (size_t done = 0, i = 0; done < nbytes; done += kChunkBytes, i ^= 1) {
    const auto size = static_cast<int64_t>(std::min(kChunkBytes, nbytes - done));
    if (emptied[i]) {
      if (absl::Status s = AwaitEvent(*to.backend, *emptied[i]); !s.ok()) return s;
    }
    const Storage& block = *blocks[i];
    char* const source = static_cast<char*>(src.raw_data()) + done;
    char* const target = static_cast<char*>(dst.raw_data()) + done;
    if (absl::Status s = CopyBytes(from, Bytes(block.data(), block.device(), size, a),
                                   Bytes(source, src.device(), size, b));
        !s.ok()) {
      return s;
    }
    absl::StatusOr<Event> filled = from.backend->Record(from.stream);
    if (!filled.ok()) return filled.status();
    if (absl::Status s = AwaitEvent(*from.backend, *filled); !s.ok()) return s;
    // The destination's backend treats the block as ordinary host memory.
    if (absl::Status s = CopyBytes(to, Bytes(target, dst.device(), size, a),
                                   Bytes(block.data(), Device::Cpu(), size, b));
        !s.ok()) {
      return s;
    }
    absl::StatusOr<Event> event = to.backend->Record(to.stream);
    if (!event.ok()) return event.status();
    emptied[i] = *std::move(event);
  }
  return AwaitStream(*to.backend, to.stream);  // before the blocks are released
}

}  // namespace

bool NeedsTheHost(Device dst, Device src) {
  if (dst.type == DeviceType::kCpu || src.type == DeviceType::kCpu) return false;
  const Registry& registry = Registry::Global();
  return registry.Find(dst.type) != registry.Find(src.type);
}

absl::Status CopyThroughHost(const Tensor& dst, const Tensor& src,
                             const std::optional<Stream>& stream) {
  absl::StatusOr<Side> to = SideOf(dst.device(), stream);
  if (!to.ok()) return to.status();
  absl::StatusOr<Side> from = SideOf(src.device(), stream);
  if (!from.ok()) return from.status();
  absl::StatusOr<Tensor> packed = AsContiguous(src, {.stream = from->stream});
  if (!packed.ok()) return packed.status();
  // If the destination has gaps or another packing, its own device moves the elements into place.
  if (!dst.is_contiguous() || dst.nbytes() != packed->nbytes()) {
    absl::StatusOr<Tensor> dense = Tensor::Empty(dst.shape(), dst.dtype(), dst.device());
    if (!dense.ok()) return dense.status();
    if (absl::Status s = CopyThroughHost(*dense, *packed, stream); !s.ok()) return s;
    if (absl::Status s = CopyInto(Tensor(dst), *dense, {.stream = to->stream}); !s.ok()) return s;
    return AwaitStream(*to->backend, to->stream);
  }
  if (absl::Status s = dst.storage()->OrderBefore(to->stream); !s.ok()) return s;
  if (absl::Status s = packed->storage()->OrderBefore(from->stream); !s.ok()) return s;
  absl::Status status = CopyDense(dst, *packed, *to, *from);
  dst.storage()->RecordUse(to->stream);
  packed->storage()->RecordUse(from->stream);
  return status;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
