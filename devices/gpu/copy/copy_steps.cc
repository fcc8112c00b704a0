#include "dovetail/devices/gpu/copy/copy_steps.h"

#include <utility>

#include "absl/types/span.h"
#include "dovetail/core/packing.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

CopySteps::~CopySteps() {
  if (forked_) (void)context_.streams.Synchronize(*forked_);
  for (Temporary& temporary : temporaries_held_) {
    auto uses = std::make_unique<Uses>();
    if (temporary.used_on.is_lasting()) {
      uses->AddStream(temporary.used_on, UseKind::kWork);
    } else if (absl::StatusOr<Event> event = context_.events.Record(temporary.used_on);
               event.ok()) {
      uses->AddEvent(*std::move(event));
    } else {
      uses->AddUnknown();
    }
    temporary.allocator->Deallocate(temporary.data, temporary.nbytes, std::move(uses));
  }
}

absl::Status CopySteps::Order(const Stream& first, const Stream& then) {
  absl::StatusOr<Event> event = context_.events.Record(first);
  if (!event.ok()) return event.status();
  return context_.events.Wait(then, *event);
}

absl::Status CopySteps::Fork(const Stream& other) {
  absl::Status s = Order(stream_, other);
  if (s.ok()) forked_ = other;
  return s;
}

absl::Status CopySteps::Join() {
  absl::Status s = Order(*forked_, stream_);
  if (s.ok()) forked_.reset();
  return s;
}

absl::StatusOr<void*> CopySteps::Allocate(size_t nbytes, const Stream& on) {
  absl::StatusOr<Allocator*> allocator = temporaries_(on.device());
  if (!allocator.ok()) return allocator.status();
  absl::StatusOr<void*> data = (*allocator)->Allocate(nbytes, on);
  if (data.ok()) temporaries_held_.push_back({*allocator, *data, nbytes, on});
  return data;
}

HostCopy::HostCopy(const TensorView& view) : view_(view) {
  int64_t lowest = 0, highest = 0;
  for (int i = 0; i < view.rank(); ++i) {
    const int64_t reach = (view.shape[i] - 1) * view.strides[i];
    (reach < 0 ? lowest : highest) += reach;
  }
  const int64_t step = StepBits(view.dtype, view.packing);
  begin_ = PlaceOf(lowest, view.dtype, view.packing).byte;
  dims_[0] = (highest * step + step + 7) / 8 - begin_;
}

TensorView HostCopy::Bytes(void* data, Device device) const {
  TensorView view;
  view.data = data;
  view.device = device;
  view.dtype = kUInt8;
  view.shape = absl::MakeConstSpan(&dims_[0], 1);
  view.strides = absl::MakeConstSpan(&dims_[1], 1);
  return view;
}

TensorView HostCopy::host_bytes() {
  bytes_.resize(static_cast<size_t>(dims_[0]));
  return Bytes(bytes_.data(), Device::Cpu());
}

TensorView HostCopy::device_bytes() {
  return Bytes(static_cast<char*>(view_.data) + begin_, view_.device);
}

TensorView HostCopy::host_view() {
  if (view_.device.type == DeviceType::kCpu) return view_;
  TensorView view = view_;
  view.data = bytes_.data() - begin_;
  view.device = Device::Cpu();
  return view;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
