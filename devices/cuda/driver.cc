#include "dovetail/devices/cuda/driver.h"

#include "absl/strings/str_cat.h"
#include "dovetail/devices/gpu/vendor/dynamic_library.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

constexpr const char* kLibraries[] = {"libcuda.so.1"};

// The numbers that ClassifyCode knows.
static_assert(CUDA_SUCCESS == 0);
static_assert(CUDA_ERROR_INVALID_VALUE == int{kCodeInvalidValue});
static_assert(CUDA_ERROR_OUT_OF_MEMORY == int{kCodeOutOfMemory});
static_assert(CUDA_ERROR_DEINITIALIZED == int{kCodeDeinitialized});
static_assert(CUDA_ERROR_NO_DEVICE == int{kCodeNoDevice});
static_assert(CUDA_ERROR_INVALID_DEVICE == int{kCodeInvalidDevice});
static_assert(CUDA_ERROR_INVALID_CONTEXT == int{kCodeInvalidContext});
static_assert(CUDA_ERROR_INVALID_HANDLE == int{kCodeInvalidHandle});
static_assert(CUDA_ERROR_NOT_READY == int{kCodeNotReady});
static_assert(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED == int{kCodePeerAlreadyEnabled});
static_assert(CUDA_ERROR_CONTEXT_IS_DESTROYED == int{kCodeContextIsDestroyed});
static_assert(CUDA_ERROR_NOT_SUPPORTED == int{kCodeNotSupported});
static_assert(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED == int{kCodeFirstOfCapture});
static_assert(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD == int{kCodeLastOfCapture});

// 12040 is 12.4.
std::string VersionText(int version) {
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace

CudaDriver& CudaDriver::Get() {
  static CudaDriver* const driver = new CudaDriver;
  return *driver;
}

bool CudaDriver::Load(std::string* reason) {
  std::call_once(once_, [this] { loaded_ = Open(&reason_); });
  if (!loaded_) *reason = reason_;
  return loaded_;
}

bool CudaDriver::Open(std::string* reason) {
  const SymbolSlot slots[] = {
#define DOVETAIL_CUDA_SYMBOL(name, need) \
  {#name, reinterpret_cast<void**>(&symbols_.name), Need::need},
#include "dovetail/devices/cuda/symbols.inc"
#undef DOVETAIL_CUDA_SYMBOL
  };
  std::string problem;
  if (!OpenLibrary(kLibraries, slots, &problem)) {
    *reason = absl::StrCat("no NVIDIA driver that can be used: ", problem);
    return false;
  }
  if (symbols_.cuDriverGetVersion(&version_) != CUDA_SUCCESS) version_ = 0;
  if (version_ < kOldestCudaDriver) {
    *reason = absl::StrCat("the NVIDIA driver is too old: it is for CUDA ", VersionText(version_),
                           ", and ", VersionText(kOldestCudaDriver),
                           " is the oldest that will do; install a newer driver");
    return false;
  }
  CUresult result = symbols_.cuInit(0);
  if (result == CUDA_SUCCESS) result = symbols_.cuDeviceGetCount(&device_count_);
  if (result == CUDA_SUCCESS && device_count_ == 0) result = CUDA_ERROR_NO_DEVICE;
  if (result != CUDA_SUCCESS) {
    *reason = absl::StrCat("the NVIDIA driver (CUDA ", VersionText(version_),
                           ") offers no device: ", Describe(result));
    return false;
  }
  devices_ = std::make_unique<Device[]>(device_count_);
  return true;
}

int CudaDriver::Attribute(int device, CUdevice_attribute attribute) const {
  int value = 0;
  return symbols_.cuDeviceGetAttribute(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

bool CudaDriver::HasPools(int device) const {
  return symbols_.cuMemAllocFromPoolAsync != nullptr && symbols_.cuMemFreeAsync != nullptr &&
         symbols_.cuMemPoolCreate != nullptr && symbols_.cuMemPoolTrimTo != nullptr &&
         symbols_.cuMemPoolSetAttribute != nullptr && symbols_.cuMemPoolGetAttribute != nullptr &&
         symbols_.cuMemPoolSetAccess != nullptr &&
         Attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
}

CUresult CudaDriver::Context(int device, CUcontext* context) {
  if (device < 0 || device >= device_count_) return CUDA_ERROR_INVALID_DEVICE;
  std::atomic<CUcontext>& kept = devices_[device].context;
  *context = kept.load(std::memory_order_acquire);
  if (*context != nullptr) return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(mutex_);
  *context = kept.load(std::memory_order_relaxed);
  if (*context != nullptr) return CUDA_SUCCESS;
  CUdevice handle;
  CUresult result = symbols_.cuDeviceGet(&handle, device);
  if (result == CUDA_SUCCESS) result = symbols_.cuDevicePrimaryCtxRetain(context, handle);
  if (result == CUDA_SUCCESS) kept.store(*context, std::memory_order_release);
  return result;
}

CUresult CudaDriver::Pool(int device, CUmemoryPool* pool) {
  if (device < 0 || device >= device_count_) return CUDA_ERROR_INVALID_DEVICE;
  std::atomic<CUmemoryPool>& kept = devices_[device].pool;
  *pool = kept.load(std::memory_order_acquire);
  if (*pool != nullptr) return CUDA_SUCCESS;
  if (!HasPools(device)) return CUDA_ERROR_NOT_SUPPORTED;
  std::lock_guard<std::mutex> lock(mutex_);
  *pool = kept.load(std::memory_order_relaxed);
  if (*pool != nullptr) return CUDA_SUCCESS;
  CUresult result = MakePool(device, pool);
  if (result == CUDA_SUCCESS) kept.store(*pool, std::memory_order_release);
  return result;
}

CUresult CudaDriver::MakePool(int device, CUmemoryPool* pool) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  return symbols_.cuMemPoolCreate(pool, &properties);
}

CUresult CudaDriver::CurrentDevice(int* device) const {
  CUdevice current;
  const CUresult result = symbols_.cuCtxGetDevice(&current);
  if (result == CUDA_SUCCESS) *device = current;
  return result;
}

CUresult CudaDriver::DeviceOf(CUcontext context, int* device) {
  for (int i = 0; i < device_count_; ++i) {
    if (devices_[i].context.load(std::memory_order_acquire) == context) {
      *device = i;
      return CUDA_SUCCESS;
    }
  }
  CUresult result = symbols_.cuCtxPushCurrent_v2(context);
  if (result != CUDA_SUCCESS) return result;
  result = CurrentDevice(device);
  CUcontext popped;
  symbols_.cuCtxPopCurrent_v2(&popped);
  return result;
}

const char* CudaDriver::Describe(Result result) {
  const char* name = nullptr;
  const char* text = nullptr;
  symbols_.cuGetErrorName(static_cast<CUresult>(result), &name);
  symbols_.cuGetErrorString(static_cast<CUresult>(result), &text);
  return texts_.Get(result, name, text);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
