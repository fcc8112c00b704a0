// The emulator behind CUDA's driver, and the functions that other programs than Dovetail call.

#include <dlfcn.h>

#include <cstdint>
#include <string>

#include "dovetail/devices/cuda/testing/driver/cuda_call.h"
#include "dovetail/tests/emulator/emulator.h"

using dovetail::NativeStream;
using dovetail::emulator::Emulator;
using dovetail::gpu::PointerInfo;
using dovetail::gpu::Result;
using dovetail::gpu::ResultClass;
using dovetail::gpu::RuntimeApi;
using vendor_driver::Backing;
using vendor_driver::CudaCall;
using vendor_driver::PointerOf;
using vendor_driver::StreamOf;

namespace {

Emulator& Gpu() {
  static Emulator* const gpu = new Emulator;
  return *gpu;
}

// The emulator's results are classes of errors.
Result CodeOfClass(Result result) {
  switch (static_cast<ResultClass>(result)) {
    case ResultClass::kOk:
      return CUDA_SUCCESS;
    case ResultClass::kNotReady:
      return CUDA_ERROR_NOT_READY;
    case ResultClass::kOutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case ResultClass::kInvalidValue:
      return CUDA_ERROR_INVALID_VALUE;
    case ResultClass::kInvalidHandle:
      return CUDA_ERROR_INVALID_HANDLE;
    case ResultClass::kNotSupported:
      return CUDA_ERROR_NOT_SUPPORTED;
    case ResultClass::kNoDevice:
      return CUDA_ERROR_INVALID_DEVICE;
    case ResultClass::kCaptureViolation:
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    case ResultClass::kPeerAlreadyEnabled:
      return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    case ResultClass::kShuttingDown:
      return CUDA_ERROR_DEINITIALIZED;
    case ResultClass::kOther:
      break;
  }
  return CUDA_ERROR_UNKNOWN;
}

int PoolOf(const void* ptr) {
  const RuntimeApi& api = Gpu().api();
  PointerInfo info;
  const bool is_pooled = Gpu().IsOfPool(ptr) && api.pointer_info(api.self, ptr, &info) == 0;
  return is_pooled ? info.device : vendor_driver::kNoPool;
}

// A copy on the legacy default stream that the host waits for.
CUresult CopyNow(void* dst, const void* src, size_t nbytes) {
  const NativeStream legacy = Gpu().api().legacy_stream;
  const CUresult error = CudaCall().On(&RuntimeApi::copy_async, dst, src, nbytes, legacy);
  return error != CUDA_SUCCESS ? error : CudaCall().On(&RuntimeApi::stream_synchronize, legacy);
}

}  // namespace

const Backing& vendor_driver::GetBacking() {
  static const Backing backing = {
      .api = &Gpu().api(),
      .version = 13000,
      .code = CodeOfClass,
      .pool_of = ::PoolOf,
      .make_blocking_stream =
          [](int device) { return Gpu().MakeStream(device, /*blocking=*/true); },
  };
  return backing;
}

extern "C" {

// What programs look up by name, which is without a version, are the functions of this library.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  static void* const self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  *function = dlsym(self, (std::string(symbol) + "_v2").c_str());
  if (*function == nullptr) *function = dlsym(self, symbol);
  if (status != nullptr) {
    *status =
        *function != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuMemHostRegister_v2(void* address, size_t nbytes, unsigned) {
  Gpu().Pin(address, nbytes);
  return CUDA_SUCCESS;
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device, void* host, unsigned) {
  *device = reinterpret_cast<CUdeviceptr>(host);
  return CUDA_SUCCESS;
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr dst, const void* src, size_t nbytes) {
  return CopyNow(PointerOf(dst), src, nbytes);
}
CUresult cuMemcpyDtoH_v2(void* dst, CUdeviceptr src, size_t nbytes) {
  return CopyNow(dst, PointerOf(src), nbytes);
}
CUresult cuMemcpyDtoHAsync_v2(void* dst, CUdeviceptr src, size_t nbytes, CUstream stream) {
  return CudaCall().On(&RuntimeApi::copy_async, dst, PointerOf(src), nbytes, StreamOf(stream));
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                unsigned flags) {
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_NOT_SUPPORTED;
  return CudaCall().DoOnDevice([&](const RuntimeApi&, int device) {
    Gpu().Hold(StreamOf(stream), device, static_cast<const uint32_t*>(PointerOf(address)), value);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
