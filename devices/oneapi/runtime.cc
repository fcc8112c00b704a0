#include "dovetail/devices/oneapi/runtime.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/allocator.h"
#include "dovetail/devices/gpu/runtime/vendor_traits.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/oneapi/submission.h"
#include "dovetail/devices/oneapi/sycl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// ---- Loading and describing ----

bool Load(void* self, std::string* reason) { return SyclOf(self).library.Load(reason); }

void LibraryFiles(void* self, std::vector<std::string>* files) {
  *files = SyclOf(self).library.Files();
}

Result DeviceCount(void* self, int* count) {
  *count = SyclOf(self).library.device_count();
  return kCodeSuccess;
}

Result Version(void*, int* runtime, int* driver) {
  *runtime = *driver = 0;  // dpctl's interface has none
  return kCodeSuccess;
}

const char* TypeName(int type) {
  switch (type) {
    case kSyclCpu:
      return "cpu";
    case kSyclGpu:
      return "gpu";
    case kSyclAccelerator:
      return "accelerator";
    default:
      return "device";
  }
}

const char* BackendName(int backend) {
  switch (backend) {
    case kSyclCuda:
      return "cuda";
    case kSyclHip:
      return "hip";
    case kSyclLevelZero:
      return "level_zero";
    case kSyclOpenCl:
      return "opencl";
    default:
      return "unknown";
  }
}

Result Describe(void* self, int device, DeviceInfo* info) {
  const Sycl& sycl = SyclOf(self);
  if (!sycl.library.Has(device)) return kCodeInvalidDevice;
  const SyclDevice* root = sycl.library.device(device);
  *info = {};
  if (const char* name = sycl->DPCTLDevice_GetName(root)) {
    std::snprintf(info->name, sizeof(info->name), "%s", name);
    sycl->DPCTLCString_Delete(name);
  }
  std::snprintf(info->architecture, sizeof(info->architecture), "%s:%s",
                BackendName(sycl->DPCTLDevice_GetBackend(root)),
                TypeName(sycl->DPCTLDevice_GetDeviceType(root)));
  info->total_bytes = sycl->DPCTLDevice_GetGlobalMemSize(root);
  info->multiprocessors = static_cast<int>(sycl->DPCTLDevice_GetMaxComputeUnits(root));
  info->has_managed = sycl->DPCTLDevice_HasAspect(root, kSyclHasUsmShared);
  info->maps_pinned_host = sycl->DPCTLDevice_HasAspect(root, kSyclHasUsmHost);
  return kCodeSuccess;
}

ResultClass Classify(void*, Result result) { return ClassifyCode(result); }

const char* TextOf(void*, Result result) {
  switch (result) {
    case kCodeSuccess:
      return "success";
    case kCodeOutOfMemory:
      return "the runtime gave no memory";
    case kCodeInvalidDevice:
      return "the queue's device is none of SYCL's root devices (a part of one, perhaps)";
    case kCodeInvalidContext:
      return "the queue's context is not the default context of its device, whose memory tensors "
             "have";
    case kCodeInvalidHandle:
      return "that is no queue";
    case kCodeNotSupported:
      return "SYCL has no such function";
    case kCodeNotReady:
      return "not done yet";
    default:
      return "SYCL threw an exception (the environment variable DPCTL_VERBOSITY=warning shows it)";
  }
}

// ---- The current device, which SYCL does not have ----

// `*previous` is one more than the device that was current.
Result PushDevice(void* self, int device, void** previous) {
  if (!SyclOf(self).library.Has(device)) return kCodeInvalidDevice;
  *previous = reinterpret_cast<void*>(intptr_t{CurrentSyclDevice()} + 1);
  CurrentSyclDevice() = device;
  return kCodeSuccess;
}

Result PopDevice(void*, void* previous) {
  CurrentSyclDevice() = static_cast<int>(reinterpret_cast<intptr_t>(previous) - 1);
  return kCodeSuccess;
}

// ---- Memory ----

using AlignedAlloc = void* (*SyclSymbols::*)(size_t, size_t, const SyclQueue*);

template <AlignedAlloc kFunction>
Result Allocate(void* self, size_t nbytes, void** ptr) {
  void* data =
      (SyclOf(self).operator->()->*kFunction)(kAllocationAlignment, nbytes, DefaultQueue(self));
  if (data == nullptr) return kCodeOutOfMemory;
  *ptr = data;
  return kCodeSuccess;
}

Result Free(void* self, void* ptr) {
  SyclOf(self)->DPCTLfree_with_queue(ptr, DefaultQueue(self));
  return kCodeSuccess;
}

Result MemoryInfo(void*, size_t*, size_t*) { return kCodeNotSupported; }

PointerKind KindOf(int usm) {
  switch (usm) {
    case kSyclUsmDevice:
      return PointerKind::kDevice;
    case kSyclUsmShared:
      return PointerKind::kManaged;
    case kSyclUsmHost:
      return PointerKind::kPinnedHost;
    default:
      return PointerKind::kUnknown;
  }
}

// Devices of a platform share their default context.
Result GetPointerInfo(void* self, const void* ptr, PointerInfo* info) {
  const Sycl& sycl = SyclOf(self);
  *info = {PointerKind::kUnknown, 0, nullptr, 0};
  for (int i = 0; i < sycl.library.device_count(); ++i) {
    const SyclContext* context = sycl.library.context(i);
    info->kind = KindOf(sycl->DPCTLUSM_GetPointerType(ptr, context));
    if (info->kind == PointerKind::kUnknown) continue;
    info->device = i;
    SyclDevice* owner = sycl->DPCTLUSM_GetPointerDevice(ptr, context);
    if (owner == nullptr) break;
    if (const int index = sycl.library.IndexOf(owner); index >= 0) info->device = index;
    sycl->DPCTLDevice_Delete(owner);
    break;
  }
  return kCodeSuccess;
}

// ---- Copies and fills ----

Result Copy(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  SyclQueue* queue = QueueOf(self, stream);
  Submission to(sycl.held, queue);
  to.Take(sycl->DPCTLQueue_MemcpyWithEvents(queue, dst, src, nbytes, to.after(), to.count()));
  return Done(to.Finish());
}

// SYCL copies within a context; devices of two contexts meet on the host.
Result CopyPeer(void* self, void* dst, int dst_device, const void* src, int src_device,
                size_t nbytes, NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  const SyclLibrary& library = sycl.library;
  if (!library.Has(dst_device) || !library.Has(src_device)) return kCodeInvalidDevice;
  if (sycl->DPCTLContext_AreEq(library.context(dst_device), library.context(src_device))) {
    return Copy(self, dst, src, nbytes, stream);
  }
  const std::unique_ptr<void, decltype(&std::free)> block(std::malloc(nbytes), &std::free);
  if (block == nullptr) return kCodeOutOfMemory;
  if (const Result r = sycl.held.Wait(QueueOf(self, stream)); r != kCodeSuccess) return r;
  for (const bool outward : {true, false}) {
    SyclQueue* queue = library.default_queue(outward ? src_device : dst_device);
    Submission to(sycl.held, queue);
    to.Take(sycl->DPCTLQueue_MemcpyWithEvents(queue, outward ? block.get() : dst,
                                              outward ? src : block.get(), nbytes, to.after(),
                                              to.count()));
    SyclEventHandle* event = to.Finish() ? to.Barrier() : nullptr;
    if (event == nullptr) return kCodeRefused;
    const Result waited = sycl.held.Wait(SyclEvent{.handle = event, .is_foreign = true});
    sycl->DPCTLEvent_Delete(event);
    if (waited != kCodeSuccess) return waited;
  }
  return kCodeSuccess;
}

// SYCL has no copy of rectangles.
Result Copy2d(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
              size_t width, size_t height, NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  SyclQueue* queue = QueueOf(self, stream);
  Submission to(sycl.held, queue);
  for (size_t row = 0; row < height; ++row) {
    to.Take(sycl->DPCTLQueue_MemcpyWithEvents(queue, static_cast<char*>(dst) + row * dst_pitch,
                                              static_cast<const char*>(src) + row * src_pitch,
                                              width, to.after(), to.count()));
  }
  return Done(to.Finish());
}

Result Fill(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
            NativeStream stream) {
  Sycl& sycl = SyclOf(self);
  SyclQueue* queue = QueueOf(self, stream);
  Submission to(sycl.held, queue);
  to.WaitBefore();
  switch (element_size) {
    case 1:
      to.Take(sycl->DPCTLQueue_Fill8(queue, dst, static_cast<uint8_t>(pattern), count));
      break;
    case 2:
      to.Take(sycl->DPCTLQueue_Fill16(queue, dst, static_cast<uint16_t>(pattern), count));
      break;
    case 4:
      to.Take(sycl->DPCTLQueue_Fill32(queue, dst, pattern, count));
      break;
    default:
      return kCodeNotSupported;
  }
  return Done(to.Finish());
}

// ---- What SYCL or dpctl's interface lacks ----

Result PeerCanAccess(void*, int, int, bool* can) {
  *can = false;
  return kCodeSuccess;
}

Result PeerEnable(void*, int) { return kCodeNotSupported; }

RuntimeApi MakeApi() {
  RuntimeApi api;
  api.self = new Sycl;
  api.vendor = &kOneApiTraits;
  api.load = Load;
  api.device_count = DeviceCount;
  api.runtime_version = Version;
  api.device_info = Describe;
  api.classify = Classify;
  api.describe = TextOf;
  api.library_files = LibraryFiles;
  api.push_device = PushDevice;
  api.pop_device = PopDevice;
  api.malloc_device = Allocate<&SyclSymbols::DPCTLaligned_alloc_device>;
  api.free_device = Free;
  api.malloc_host = Allocate<&SyclSymbols::DPCTLaligned_alloc_host>;
  api.free_host = Free;
  api.malloc_managed = Allocate<&SyclSymbols::DPCTLaligned_alloc_shared>;
  api.memory_info = MemoryInfo;
  api.pointer_info = GetPointerInfo;
  api.copy_async = Copy;
  api.copy_peer_async = CopyPeer;
  api.copy_2d_async = Copy2d;
  api.fill_async = Fill;
  api.peer_can_access = PeerCanAccess;
  api.peer_enable = PeerEnable;
  FillStreams(api);
  FillKernels(api);
  return api;
}

}  // namespace

const RuntimeApi& OneApiRuntimeApi() {
  static const RuntimeApi* const api = new RuntimeApi(MakeApi());
  return *api;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
