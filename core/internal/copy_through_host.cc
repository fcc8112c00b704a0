#include "dovetail/core/internal/copy_through_host.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
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
constexpr int64_t kPieceBytes = int64_t{4} << 20;

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

// Whether the elements follow each other in memory, so that a part of them is one piece of it.
bool IsPlain(const Tensor& t) { return t.is_contiguous() && t.packing() == Packing::kPacked; }

// Host memory for `count` elements, pinned if the device's backend has pinned memory.
absl::StatusOr<Tensor> HostBlock(int64_t count, DType dtype, Device device) {
  const auto nbytes = static_cast<size_t>(BytesWithoutGaps(count, dtype, Packing::kPacked));
  absl::StatusOr<StorageRef> storage =
      Storage::Allocate(nbytes, StreamDevice(device), MemoryKind::kPinnedHost);
  if (!storage.ok() || !IsAddressable((*storage)->device().type)) {
    storage = Storage::Allocate(nbytes, Device::Cpu());
  }
  absl::StatusOr<Layout> layout = Layout::Contiguous({count});
  if (!storage.ok()) return storage.status();
  if (!layout.ok()) return layout.status();
  return Tensor::Make(*std::move(storage), 0, dtype, *std::move(layout), {});
}

// One of the two blocks through which the elements pass.
struct Block {
  Tensor memory;
  std::optional<Event> emptied;  // by the destination's device, the last time
};

// Copies `part` of `src` to `dst` by way of a block. Both have one dimension.
absl::Status CopyPiece(const Tensor& dst, const Tensor& src, SliceSpec part, const Side& to,
                       const Side& from, Block* block) {
  absl::StatusOr<Tensor> target = dst.Slice(0, part), source = src.Slice(0, part),
                         between = block->memory.Slice(0, {.stop = *part.stop - *part.start});
  for (const absl::StatusOr<Tensor>* piece : {&target, &source, &between}) {
    if (!piece->ok()) return piece->status();
  }
  if (block->emptied) {
    if (absl::Status s = AwaitEvent(*to.backend, *block->emptied); !s.ok()) return s;
  }
  absl::Status s = from.backend->Copy(between->view(), source->view(), from.stream);
  if (!s.ok()) return s;
  absl::StatusOr<Event> filled = from.backend->Record(from.stream);
  if (!filled.ok()) return filled.status();
  if (s = AwaitEvent(*from.backend, *filled); !s.ok()) return s;
  TensorView host = between->view();
  host.device = Device::Cpu();  // the destination's backend may not know it as pinned memory
  if (s = to.backend->Copy(target->view(), host, to.stream); !s.ok()) return s;
  absl::StatusOr<Event> emptied = to.backend->Record(to.stream);
  if (!emptied.ok()) return emptied.status();
  block->emptied = *std::move(emptied);
  return absl::OkStatus();
}

// Copies between two plain tensors of the same shape.
absl::Status CopyPlain(const Tensor& dst, const Tensor& src, const Side& to, const Side& from) {
  const int64_t count = src.num_elements();
  absl::StatusOr<Tensor> target = dst.Reshape({count}), source = src.Reshape({count});
  if (!target.ok()) return target.status();
  if (!source.ok()) return source.status();
  // Eight packed elements end at a whole byte.
  const int64_t piece =
      std::min(count, std::max<int64_t>(kPieceBytes / src.dtype().itemsize() / 8 * 8, 8));
  Block blocks[2];
  // A copy that failed half-way may have left work that still uses the blocks.
  absl::Cleanup wait = [&] {
    (void)from.backend->Synchronize(from.stream);
    (void)to.backend->Synchronize(to.stream);
  };
  for (int64_t first = 0, i = 0; first < count; first += piece, i ^= 1) {
    Block& block = blocks[i];
    if (block.memory.is_null()) {
      absl::StatusOr<Tensor> made = HostBlock(piece, src.dtype(), src.device());
      if (!made.ok()) return made.status();
      block.memory = *std::move(made);
    }
    const SliceSpec part = {.start = first, .stop = std::min(first + piece, count)};
    absl::Status s = CopyPiece(*target, *source, part, to, from, &block);
    if (!s.ok()) return s;
  }
  std::move(wait).Cancel();
  return AwaitStream(*to.backend, to.stream);
}

}  // namespace

bool NeedsTheHost(Device dst, Device src) {
  if (dst.type == DeviceType::kCpu || src.type == DeviceType::kCpu) return false;
  const Registry& registry = Registry::Shared();
  return registry.Find(dst.type) != registry.Find(src.type);
}

absl::Status CopyThroughHost(const Tensor& dst, const Tensor& src,
                             const std::optional<Stream>& stream) {
  absl::StatusOr<Side> to = SideOf(dst.device(), stream);
  if (!to.ok()) return to.status();
  absl::StatusOr<Side> from = SideOf(src.device(), stream);
  if (!from.ok()) return from.status();
  // Each device packs and unpacks its own elements.
  if (!IsPlain(src)) {
    absl::StatusOr<Tensor> plain = Copied(src, {.stream = from->stream});
    return plain.ok() ? CopyThroughHost(dst, *plain, stream) : plain.status();
  }
  if (!IsPlain(dst)) {
    absl::StatusOr<Tensor> plain = Tensor::Empty(dst.shape(), dst.dtype(), dst.device());
    if (!plain.ok()) return plain.status();
    if (absl::Status s = CopyThroughHost(*plain, src, stream); !s.ok()) return s;
    if (absl::Status s = CopyInto(Tensor(dst), *plain, {.stream = to->stream}); !s.ok()) return s;
    return AwaitStream(*to->backend, to->stream);
  }
  if (absl::Status s = dst.storage()->OrderBefore(to->stream); !s.ok()) return s;
  if (absl::Status s = src.storage()->OrderBefore(from->stream); !s.ok()) return s;
  absl::Status status = CopyPlain(dst, src, *to, *from);
  dst.storage()->RecordUse(to->stream);
  src.storage()->RecordUse(from->stream);
  return status;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
