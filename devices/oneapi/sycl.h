// What the functions of oneAPI's RuntimeApi share. Internal to devices/oneapi.
//
//   SyclQueue* queue = QueueOf(self, stream);
//   return Done(SyclOf(self)->DPCTLQueue_Prefetch(...) != nullptr);

#ifndef DOVETAIL_DEVICES_ONEAPI_SYCL_H_
#define DOVETAIL_DEVICES_ONEAPI_SYCL_H_

#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"
#include "dovetail/devices/gpu/vendor/handles.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/oneapi/library.h"
#include "dovetail/devices/oneapi/queues.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// RuntimeApi::self.
struct Sycl {
  using Stream = SyclQueue*;  // for ToStream

  SyclLibrary& library = SyclLibrary::Get();
  HeldQueues held{library};

  absl::Mutex bundles_mutex;
  std::map<int, SyclKernelBundle*> bundles ABSL_GUARDED_BY(bundles_mutex);  // by device

  const SyclSymbols* operator->() const { return library.operator->(); }
};

inline Sycl& SyclOf(void* self) { return *static_cast<Sycl*>(self); }

// SYCL has no current device: this is RuntimeApi's.
DOVETAIL_NOT_SHARED inline int& CurrentSyclDevice() {
  thread_local int device = 0;
  return device;
}

inline SyclQueue* DefaultQueue(void* self) {
  return SyclOf(self).library.default_queue(CurrentSyclDevice());
}

// Stream 0 is the default queue of the current device.
inline SyclQueue* QueueOf(void* self, NativeStream stream) {
  return stream == NativeStream{0} ? DefaultQueue(self) : ToStream<Sycl>(stream);
}

inline Result Done(bool ok) { return ok ? kCodeSuccess : kCodeRefused; }

void FillStreams(RuntimeApi& api);  // streams.cc
void FillKernels(RuntimeApi& api);  // kernels.cc

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_ONEAPI_SYCL_H_
