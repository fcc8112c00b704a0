#include "dovetail/core/testing/fake_backend.h"

#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The fake allocator refuses sizes above this, in bytes. It is more than any test needs.
constexpr size_t kMemory = size_t{1} << 40;

int64_t BitOffset(const TensorView& view, int64_t index) {
  int64_t offset = 0;
  for (int d = view.rank() - 1; d >= 0; --d) {
    if (view.shape[d] > 1) offset += index % view.shape[d] * view.strides[d];
    index /= view.shape[d];
  }
  return offset * StepBits(view.dtype, view.packing);
}

}  // namespace

void NaiveCopy(const TensorView& dst, const TensorView& src) {
  int64_t count = 1;
  for (int64_t size : dst.shape) count *= size;
  auto* to = static_cast<unsigned char*>(dst.data);
  auto* from = static_cast<const unsigned char*>(src.data);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t t = BitOffset(dst, i), f = BitOffset(src, i);
    for (int64_t b = 0; b < dst.dtype.element_bits(); ++b) {
      const int bit = from[(f + b) >> 3] >> ((f + b) & 7) & 1;
      auto& byte = to[(t + b) >> 3];
      byte = static_cast<unsigned char>((byte & ~(1 << ((t + b) & 7))) | bit << ((t + b) & 7));
    }
  }
}

absl::StatusOr<Allocator*> FakeBackend::GetAllocator(Device device, MemoryKind kind) {
  if (device.index > 1) return absl::NotFoundError("The fake backend has two devices.");
  if (kind == MemoryKind::kManaged) return absl::InvalidArgumentError("No managed memory.");
  return &allocator_;
}

absl::StatusOr<Stream> FakeBackend::CreateStream(Device device) {
  return Stream::Own(device, NativeStream{next_stream_++}, std::make_shared<int>(0));
}

absl::StatusOr<Event> FakeBackend::Record(const Stream& stream) {
  log_->recorded.push_back(stream);
  return Event(stream.device(), nullptr);
}

absl::Status FakeBackend::Wait(const Stream& stream, const Event&) {
  log_->waited.push_back(stream);
  return absl::OkStatus();
}

absl::Status FakeBackend::Synchronize(const Stream& stream) {
  log_->synchronized.push_back(stream);
  return absl::OkStatus();
}

absl::Status FakeBackend::Copy(const TensorView& dst, const TensorView& src, const Stream& stream) {
  log_->copied_on.push_back(stream);
  if (log_->copy_fails) return absl::InternalError("The copy failed half-way.");
  NaiveCopy(dst, src);
  return absl::OkStatus();
}

absl::StatusOr<void*> FakeBackend::FakeAllocator::Allocate(size_t nbytes, const Stream&) {
  if (nbytes > kMemory) return absl::ResourceExhaustedError("The fake backend is out of memory.");
  ++log_->allocated;
  log_->allocated_bytes += nbytes;
  // aligned_alloc takes only multiples of the alignment.
  const size_t rounded = (nbytes + kAllocationAlignment - 1) / kAllocationAlignment;
  if (nbytes == 0) return nullptr;
  void* data = std::aligned_alloc(kAllocationAlignment, rounded * kAllocationAlignment);
  return std::memset(data, kUnwritten, nbytes);
}

void FakeBackend::FakeAllocator::Deallocate(void* data, size_t nbytes,
                                            std::unique_ptr<Uses> uses) noexcept {
  ++log_->deallocated;
  log_->deallocated_bytes += nbytes;
  log_->used_on.clear();
  if (uses != nullptr) {
    for (const Uses::Use& use : uses->streams()) log_->used_on.push_back(use.stream);
  }
  std::free(data);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
