// Copies, fills, streams, events and kernels.

#include <optional>

#include "tests/forwarding_hip/forward.h"
#include "tests/forwarding_hip/owners.h"

using dovetail::gpu::CaptureMode;
using dovetail::gpu::CaptureStatus;
using dovetail::gpu::KernelImage;
using dovetail::gpu::kEventInterprocess;
using dovetail::gpu::kEventPlain;
using forwarding_hip::AreOneGpu;
using forwarding_hip::Cuda;
using forwarding_hip::CurrentDevice;
using forwarding_hip::Events;
using forwarding_hip::Forward;
using forwarding_hip::Keep;
using forwarding_hip::Memory;
using forwarding_hip::NativeStream;
using forwarding_hip::Owner;
using forwarding_hip::RealDevice;
using forwarding_hip::RuntimeApi;
using forwarding_hip::StreamOf;
using forwarding_hip::Streams;

namespace {

void* Handle(hipEvent_t event) { return event; }

// Whether a stream or event may belong to the device. One that another library made has no known
// owner, and may.
bool MayBeOf(const std::optional<Owner>& owner, int device) {
  return !owner || owner->device == device;
}

hipError_t Fill(void* dst, uint32_t value, size_t size, size_t count, hipStream_t stream) {
  return Forward(&RuntimeApi::fill_async, dst, value, size, count, StreamOf(stream));
}

}  // namespace

extern "C" {

hipError_t hipMemcpyAsync(void* dst, const void* src, size_t nbytes, hipMemcpyKind,
                          hipStream_t stream) {
  return Forward(&RuntimeApi::copy_async, dst, src, nbytes, StreamOf(stream));
}
hipError_t hipMemcpyPeerAsync(void* dst, int to, const void* src, int from, size_t nbytes,
                              hipStream_t stream) {
  if (!MayBeOf(Memory().Find(dst), to) || !MayBeOf(Memory().Find(src), from)) {
    return Keep(hipErrorInvalidValue);
  }
  if (AreOneGpu(to, from)) return hipMemcpyAsync(dst, src, nbytes, hipMemcpyDefault, stream);
  return Forward(&RuntimeApi::copy_peer_async, dst, RealDevice(to), src, RealDevice(from), nbytes,
                 StreamOf(stream));
}
hipError_t hipMemcpy2DAsync(void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                            size_t width, size_t height, hipMemcpyKind, hipStream_t stream) {
  return Forward(&RuntimeApi::copy_2d_async, dst, dst_pitch, src, src_pitch, width, height,
                 StreamOf(stream));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t dst, unsigned char value, size_t count,
                            hipStream_t stream) {
  return Fill(dst, value, 1, count, stream);
}
hipError_t hipMemsetD16Async(hipDeviceptr_t dst, unsigned short value, size_t count,
                             hipStream_t stream) {
  return Fill(dst, value, 2, count, stream);
}
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return Fill(dst, static_cast<uint32_t>(value), 4, count, stream);
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  if (flags != hipStreamNonBlocking) return Keep(hipErrorInvalidValue);
  NativeStream made;
  const hipError_t error = Forward(&RuntimeApi::stream_create, &made);
  if (error == hipSuccess) {
    *stream = reinterpret_cast<hipStream_t>(static_cast<uintptr_t>(made));
    Streams().Add(*stream, 1, {CurrentDevice()});
  }
  return error;
}
hipError_t hipStreamDestroy(hipStream_t stream) {
  Streams().Remove(stream);
  return Forward(&RuntimeApi::stream_destroy, StreamOf(stream));
}
hipError_t hipStreamQuery(hipStream_t stream) {
  return Forward(&RuntimeApi::stream_query, StreamOf(stream));
}
hipError_t hipStreamSynchronize(hipStream_t stream) {
  return Forward(&RuntimeApi::stream_synchronize, StreamOf(stream));
}
hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
  return Forward(&RuntimeApi::stream_wait_event, StreamOf(stream), Handle(event));
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  CaptureStatus found;
  const hipError_t error = Forward(&RuntimeApi::stream_capture_status, StreamOf(stream), &found);
  if (error != hipSuccess) return error;
  *status = found == CaptureStatus::kNone     ? hipStreamCaptureStatusNone
            : found == CaptureStatus::kActive ? hipStreamCaptureStatusActive
                                              : hipStreamCaptureStatusInvalidated;
  return hipSuccess;
}
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device);
hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  if (const std::optional<Owner> owner = Streams().Find(stream)) {
    *device = owner->device;
    return hipSuccess;
  }
  int found = 0;
  const hipError_t error = Forward(&RuntimeApi::stream_device, StreamOf(stream), &found);
  if (error == hipSuccess) *device = found;
  return error;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode* mode) {
  auto exchanged = static_cast<CaptureMode>(*mode);
  const hipError_t error = Forward(&RuntimeApi::exchange_capture_mode, &exchanged);
  if (error == hipSuccess) *mode = static_cast<hipStreamCaptureMode>(exchanged);
  return error;
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  void* made = nullptr;
  const unsigned ours = (flags & hipEventInterprocess) != 0 ? kEventInterprocess : kEventPlain;
  const hipError_t error = Forward(&RuntimeApi::event_create, ours, &made);
  if (error == hipSuccess) {
    *event = static_cast<hipEvent_t>(made);
    Events().Add(made, 1, {CurrentDevice()});
  }
  return error;
}
hipError_t hipEventDestroy(hipEvent_t event) {
  Events().Remove(event);
  return Forward(&RuntimeApi::event_destroy, Handle(event));
}
// HIP refuses an event of another device than the stream's. (CUDA would not notice on one GPU.)
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const int device = Streams().Find(stream).value_or(Owner{CurrentDevice()}).device;
  if (!MayBeOf(Events().Find(event), device)) return Keep(hipErrorInvalidHandle);
  return Forward(&RuntimeApi::event_record, Handle(event), StreamOf(stream));
}
hipError_t hipEventQuery(hipEvent_t event) {
  return Forward(&RuntimeApi::event_query, Handle(event));
}
hipError_t hipEventSynchronize(hipEvent_t event) {
  return Forward(&RuntimeApi::event_synchronize, Handle(event));
}

// The image is for AMD's chips. CUDA's image of the same kernels is loaded instead.
hipError_t hipModuleLoadData(hipModule_t* module, const void*) {
  const RuntimeApi* cuda = Cuda();
  if (cuda == nullptr) return Keep(hipErrorNoDevice);
  const KernelImage image = cuda->kernel_image(cuda->self, RealDevice(CurrentDevice()));
  if (image.data == nullptr) return Keep(hipErrorNoBinaryForGpu);
  void* loaded = nullptr;
  const hipError_t error = Forward(&RuntimeApi::module_load, &image, &loaded);
  if (error == hipSuccess) *module = static_cast<hipModule_t>(loaded);
  return error;
}
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  void* found = nullptr;
  const hipError_t error =
      Forward(&RuntimeApi::module_function, static_cast<void*>(module), name, &found);
  if (error == hipSuccess) *function = static_cast<hipFunction_t>(found);
  return error;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                 hipStream_t stream, void** args, void**) {
  // HIP counts the threads of each dimension in 32 bits.
  if (uint64_t{gx} * bx > UINT32_MAX || uint64_t{gy} * by > UINT32_MAX ||
      uint64_t{gz} * bz > UINT32_MAX) {
    return Keep(hipErrorInvalidConfiguration);
  }
  const uint32_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  return Forward(&RuntimeApi::launch, static_cast<void*>(function),
                 static_cast<const uint32_t*>(grid), static_cast<const uint32_t*>(block),
                 uint32_t{shared}, StreamOf(stream), args);
}

}  // extern "C"
