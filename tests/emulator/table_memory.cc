// RuntimeApi's memory, copies and fills.

#include <cstring>
#include <utility>

#include "dovetail/tests/emulator/call.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

template <PointerKind kKind>
Result Malloc(void* self, size_t nbytes, void** data) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  return call->Allocate(kKind, device, nbytes, data);
}
Result FreeDevice(void* self, void* data) { return Call(self)->FreeNow(data, /*host=*/false); }
Result FreeHost(void* self, void* data) { return Call(self)->FreeNow(data, /*host=*/true); }
Result MallocAsync(void* self, size_t nbytes, NativeStream stream, void** data) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->AllocateFromPool(queue, nbytes, data);
}
Result FreeAsync(void* self, void* data, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->FreeToPool(queue, data);
}
Result PoolTrim(void* self, int device, size_t keep) {
  Call(self)->TrimPool(device, keep);
  return kOk;
}
Result PoolSetReleaseThreshold(void* self, int device, size_t nbytes) {
  Call(self)->keep_in_pool[device] = nbytes;
  return kOk;
}
Result PoolGetStats(void* self, int device, gpu::PoolStats* stats) {
  Call call(self);
  *stats = {call->pool_used[device], call->pool_used[device]};
  for (const PoolBlock& block : call->pools[device]) stats->reserved_bytes += block.size;
  return kOk;
}
Result PoolAllowAccess(void* self, int device, int peer) {
  Call call(self);
  ++call->counts.peer_calls;
  if (const Result r = call->CheckUnsafe("access to a pool"); r != kOk) return r;
  if (const Result r = call->PeerFailureOf(Function::kPoolAllowAccess, peer, device); r != kOk) {
    return r;
  }
  call->pool_peers.insert({peer, device});
  return kOk;
}
Result MemoryInfo(void* self, size_t* free_bytes, size_t* total_bytes) {
  Call call(self);
  int device;
  if (const Result r = call->CheckCurrent(&device); r != kOk) return r;
  *free_bytes = call->memory[device]->free_bytes();
  *total_bytes = call->options.device_bytes;
  return kOk;
}
Result GetPointerInfo(void* self, const void* ptr, gpu::PointerInfo* info) {
  Call call(self);
  *info = {};
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  if (a != nullptr && a->live && !a->freeing) *info = {a->kind, a->device, a->base, a->size};
  return kOk;
}

Result PeersReach(void* self, const void* ptr, int, bool* reach) {
  Call call(self);
  const std::shared_ptr<Allocation> a = call->FindAllocation(ptr);
  *reach = a != nullptr && a->live && !a->freeing && !a->apart;
  return kOk;
}

// ---- Copies and fills ----

Result CopyAsync(void* self, void* dst, const void* src, size_t nbytes, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result : call->Copy(queue, dst, src, nbytes, nbytes, nbytes, 1, false);
}
Result CopyPeerAsync(void* self, void* dst, int dst_device, const void* src, int src_device,
                     size_t nbytes, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  const std::shared_ptr<Allocation> to = call->FindAllocation(dst);
  const std::shared_ptr<Allocation> from = call->FindAllocation(src);
  if (to == nullptr || from == nullptr || to->device != dst_device || from->device != src_device) {
    call->Complain("A peer copy was called with memory of other devices than it says.");
    return Code(ResultClass::kInvalidValue);
  }
  return call->Copy(queue, dst, src, nbytes, nbytes, nbytes, 1, true);
}
Result Copy2dAsync(void* self, void* dst, size_t dst_pitch, const void* src, size_t src_pitch,
                   size_t width, size_t height, NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  return queue == nullptr ? result
                          : call->Copy(queue, dst, src, dst_pitch, src_pitch, width, height, false);
}
Result FillAsync(void* self, void* dst, uint32_t pattern, size_t element_size, size_t count,
                 NativeStream stream) {
  Call call(self);
  Result result;
  Queue* queue = call->Find(stream, true, &result);
  if (queue == nullptr) return result;
  if ((element_size != 1 && element_size != 2 && element_size != 4) ||
      reinterpret_cast<uintptr_t>(dst) % element_size != 0) {
    return Code(ResultClass::kInvalidValue);
  }
  Access access;
  result = call->Resolve(dst, element_size * count, queue->device, false, "A fill", &access);
  if (result == kOk && access.is_host()) {
    call->Complain("A fill of memory that is none of the device's.");
    result = Code(ResultClass::kInvalidValue);
  }
  if (result != kOk) return result;
  return call->Add(queue, call->Checked(access, {}, "A fill", [=](void* d, const void*) {
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(d) + i * element_size, &pattern, element_size);
    }
  }));
}

}  // namespace

void FillMemory(gpu::RuntimeApi& api, const EmulatorOptions& options) {
  api.malloc_device = &Malloc<PointerKind::kDevice>;
  api.free_device = &FreeDevice;
  if (options.has_pools) {
    api.malloc_async = &MallocAsync;
    api.free_async = &FreeAsync;
    api.pool_trim = &PoolTrim;
    api.pool_set_release_threshold = &PoolSetReleaseThreshold;
    api.pool_stats = &PoolGetStats;
    api.pool_allow_access = &PoolAllowAccess;
  }
  api.malloc_host = &Malloc<PointerKind::kPinnedHost>;
  api.free_host = &FreeHost;
  if (options.has_managed) api.malloc_managed = &Malloc<PointerKind::kManaged>;
  api.memory_info = &MemoryInfo;
  api.pointer_info = &GetPointerInfo;
  if (options.knows_peer_memory) api.peers_reach = &PeersReach;
  api.copy_async = &CopyAsync;
  api.copy_peer_async = &CopyPeerAsync;
  api.copy_2d_async = &Copy2dAsync;
  api.fill_async = &FillAsync;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
