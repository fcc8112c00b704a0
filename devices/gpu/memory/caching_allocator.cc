#include "dovetail/devices/gpu/memory/caching_allocator.h"

#include <algorithm>
#include <bit>
#include <memory>

#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

size_t SizeClass(size_t nbytes) {
  constexpr size_t kLeast = 512;
  if (nbytes <= 8 * kLeast) return (nbytes + kLeast - 1) / kLeast * kLeast;
  const size_t step = std::bit_floor(nbytes - 1) / 8;
  return (nbytes + step - 1) / step * step;
}

CachingAllocator::Key CachingAllocator::KeyOf(const std::optional<Stream>& stream, size_t size) {
  if (!stream) return {true, 0, NativeStream{}, size};
  return {false, StreamDevice(stream->device()).index, stream->native(), size};
}

bool CachingAllocator::Keep(Block block) noexcept {
  DOVETAIL_TRY {
    absl::MutexLock lock(&mutex_);
    const size_t size = block.size;
    kept_[KeyOf(block.stream, size)].push_back(std::move(block));
    kept_bytes_ += size;
    return true;
  }
  DOVETAIL_CATCH(const std::bad_alloc&) { return false; }
}

bool CachingAllocator::ReclaimInOrder(void* data, size_t nbytes, const Stream& stream) noexcept {
  // The host would write into work that is pending on the stream.
  if (is_host_accessible()) return false;
  // Blocks of other libraries' streams, which come and go, would pile up here.
  const bool may_be_foreign =
      context().runtime.api().stream_hold != nullptr && stream.native() != NativeStream{0};
  return stream.is_lasting() && !may_be_foreign && Keep({data, SizeClass(nbytes), stream});
}

bool CachingAllocator::ReclaimAfter(void*, size_t, const Uses::EventList&) noexcept {
  return false;
}

void CachingAllocator::Reclaim(void* data, size_t nbytes) noexcept {
  const Block block{data, SizeClass(nbytes), std::nullopt};
  if (!Keep(block)) GiveToBase(block);
}

void* CachingAllocator::TakeKept(size_t size, const Stream& stream) {
  absl::MutexLock lock(&mutex_);
  for (const Key& key : {KeyOf(stream, size), KeyOf(std::nullopt, size)}) {
    const auto found = kept_.find(key);
    if (found == kept_.end() || found->second.empty()) continue;
    void* data = found->second.back().data;
    found->second.pop_back();
    kept_bytes_ -= size;
    return data;
  }
  return nullptr;
}

absl::StatusOr<void*> CachingAllocator::Obtain(size_t nbytes, const Stream& stream) {
  const size_t size = SizeClass(nbytes);
  if (size < nbytes) return absl::ResourceExhaustedError("more than there are addresses");
  if (void* data = TakeKept(size, stream)) return data;
  absl::StatusOr<void*> data = base_.ObtainFor(size, stream);
  if (data.ok()) AddReserved(static_cast<int64_t>(size));
  return data;
}

void CachingAllocator::GiveToBase(Block block) {
  AddReserved(-static_cast<int64_t>(block.size));
  if (block.stream && base_.ReclaimInOrder(block.data, block.size, *block.stream)) return;
  auto uses = std::make_unique<Uses>();
  if (block.stream) uses->AddStream(*block.stream, UseKind::kWork);
  uses->data = block.data;
  uses->nbytes = block.size;
  uses->allocator = &base_;
  context().releaser.Push(std::move(uses));
}

absl::Status CachingAllocator::Reduce(size_t keep) {
  std::vector<Block> surplus;
  {
    absl::MutexLock lock(&mutex_);
    for (auto entry = kept_.begin(); entry != kept_.end() && kept_bytes_ > keep;) {
      std::vector<Block>& blocks = entry->second;
      while (!blocks.empty() && kept_bytes_ > keep) {
        kept_bytes_ -= blocks.back().size;
        surplus.push_back(std::move(blocks.back()));
        blocks.pop_back();
      }
      if (blocks.empty()) {
        kept_.erase(entry++);
      } else {
        ++entry;
      }
    }
  }
  for (Block& block : surplus) GiveToBase(std::move(block));
  context().releaser.Flush();
  return absl::OkStatus();
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
