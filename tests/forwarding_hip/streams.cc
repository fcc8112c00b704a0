// Streams and events, whose owners are remembered.

#include <optional>

#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "tests/forwarding_hip/owners.h"
#include "tests/forwarding_hip/shared_gpu.h"

namespace forwarding_hip {
namespace {

using dovetail::gpu::NativeEvent;

// By handle.
Owners& Streams() {
  static Owners* const owners = new Owners;
  return *owners;
}
Owners& Events() {
  static Owners* const owners = new Owners;
  return *owners;
}

const void* Key(NativeStream stream) {
  return reinterpret_cast<const void*>(static_cast<uintptr_t>(stream));
}

Result StreamCreate(void* self, NativeStream* stream) {
  const Result result = Cuda().stream_create(self, stream);
  if (result == 0) Streams().Add(Key(*stream), 1, {CurrentDevice()});
  return result;
}

Result StreamDevice(void* self, NativeStream stream, int* device) {
  const std::optional<Owner> owner = Streams().Find(Key(stream));
  if (!owner) return Cuda().stream_device(self, stream, device);
  *device = owner->device;
  return 0;
}

Result EventCreate(void* self, unsigned flags, NativeEvent* event) {
  const Result result = Cuda().event_create(self, flags, event);
  if (result == 0) Events().Add(*event, 1, {CurrentDevice()});
  return result;
}

// HIP refuses an event of another device than the stream's. (CUDA would not notice on one GPU.)
Result EventRecord(void* self, NativeEvent event, NativeStream stream) {
  const int device = Streams().Find(Key(stream)).value_or(Owner{CurrentDevice()}).device;
  if (!MayBeOf(Events().Find(event), device)) return dovetail::gpu::kCodeInvalidHandle;
  return Cuda().event_record(self, event, stream);
}

}  // namespace

void FillStreams(RuntimeApi& api) {
  api.stream_create = StreamCreate;
  api.stream_destroy = [](void* self, NativeStream stream) {
    Streams().Remove(Key(stream));
    return Cuda().stream_destroy(self, stream);
  };
  api.stream_device = StreamDevice;
  api.event_create = EventCreate;
  api.event_destroy = [](void* self, NativeEvent event) {
    Events().Remove(event);
    return Cuda().event_destroy(self, event);
  };
  api.event_record = EventRecord;
}

}  // namespace forwarding_hip
