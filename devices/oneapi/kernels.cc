// The functions of RuntimeApi for kernels: the OpenCL C of kernel_source.h, which the runtime
// compiles.

#include <string_view>

#include "dovetail/devices/gpu/kernels/arguments.h"
#include "dovetail/devices/gpu/kernels/gather.h"
#include "dovetail/devices/gpu/kernels/linear.h"
#include "dovetail/devices/gpu/kernels/tile.h"
#include "dovetail/devices/gpu/vendor/result_codes.h"
#include "dovetail/devices/oneapi/kernel_source.h"
#include "dovetail/devices/oneapi/submission.h"
#include "dovetail/devices/oneapi/sycl.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

// Numbers of kernel_source.h, and the size of arguments that OpenCL guarantees.
static_assert(LinearCopy<1>::kUnitsPerBlock == 256 * 8 && LinearCopy<4>::kUnitsPerBlock == 256 * 4);
static_assert(GatherCopy<1, 4>::kUnitsPerBlock == 256 * 4);
static_assert(GatherCopy<1, 16>::kUnitsPerBlock == 256 * 2);
static_assert(TileCopy<1, 1>::kAlongDst == 128 && TileCopy<1, 1>::kAlongSrc == 64);
static_assert(TileCopy<2, 1>::kAlongDst == 64 && TileCopy<2, 1>::kAlongSrc == 64);
static_assert(TileCopy<4, 1>::kAlongDst == 64 && TileCopy<4, 1>::kAlongSrc == 64);
static_assert(2 * sizeof(void*) + sizeof(CopyArguments) <= 1024);

// A function of the module. Lives as long as the process.
struct Function {
  SyclKernel* kernel;
  bool is_fill;
};

KernelImage Image(void* self, int) {
  const Sycl& sycl = SyclOf(self);
  if (sycl->DPCTLRawKernelArg_Create == nullptr || !sycl->DPCTLRawKernelArg_Available()) {
    return {.reason = "this version of dpctl passes no structs to kernels; use 0.21 or later"};
  }
  return {
      .data = kOpenClKernels, .nbytes = sizeof(kOpenClKernels), .kernels = KernelSet::kDenseTiles};
}

// Compiling takes about half a second. All backends of the process share what it makes.
Result ModuleLoad(void* self, const KernelImage* image, NativeModule* module) {
  Sycl& sycl = SyclOf(self);
  const int device = CurrentSyclDevice();
  absl::MutexLock lock(&sycl.bundles_mutex);
  SyclKernelBundle*& bundle = sycl.bundles[device];
  if (bundle == nullptr) {
    bundle = sycl->DPCTLKernelBundle_CreateFromOCLSource(sycl.library.context(device),
                                                         sycl.library.device(device),
                                                         static_cast<const char*>(image->data), "");
  }
  if (bundle == nullptr) return kCodeNotSupported;
  *module = bundle;
  return kCodeSuccess;
}

Result ModuleFunction(void* self, NativeModule module, const char* name, NativeFunction* function) {
  SyclKernel* kernel =
      SyclOf(self)->DPCTLKernelBundle_GetKernel(static_cast<SyclKernelBundle*>(module), name);
  if (kernel == nullptr) return kCodeNotSupported;
  constexpr std::string_view kFill = "dovetail_fill";
  *function = new Function{kernel, std::string_view(name).substr(0, kFill.size()) == kFill};
  return kCodeSuccess;
}

Result Launch(void* self, NativeFunction function, const uint32_t grid[3], const uint32_t block[3],
              uint32_t, NativeStream stream, void** args) {
  Sycl& sycl = SyclOf(self);
  const auto& [kernel, is_fill] = *static_cast<Function*>(function);
  const auto* copy = static_cast<const CopyArguments*>(args[0]);
  const auto* fill = static_cast<const FillArguments*>(args[0]);
  const size_t nbytes = is_fill ? sizeof(FillArguments) : sizeof(CopyArguments);
  SyclRawKernelArg* raw = sycl->DPCTLRawKernelArg_Create(args[0], nbytes);
  if (raw == nullptr) return kCodeRefused;
  void* values[3] = {is_fill ? fill->dst : copy->dst};
  int types[3] = {kSyclVoidPointer, kSyclVoidPointer, kSyclRawKernelArg};
  size_t count = 1;
  if (!is_fill) values[count++] = const_cast<unsigned char*>(copy->src);
  values[count] = raw;
  types[count++] = kSyclRawKernelArg;
  const size_t threads[3] = {size_t{grid[0]} * block[0], 1, 1};
  const size_t group[3] = {block[0], 1, 1};
  SyclQueue* queue = QueueOf(self, stream);
  Submission to(sycl.held, queue);
  to.Take(sycl->DPCTLQueue_SubmitNDRange(kernel, queue, values, types, count, threads, group, 1,
                                         to.after(), to.count()));
  sycl->DPCTLRawKernelArg_Delete(raw);
  return Done(to.Finish());
}

}  // namespace

void FillKernels(RuntimeApi& api) {
  api.kernel_image = Image;
  api.module_load = ModuleLoad;
  api.module_function = ModuleFunction;
  api.launch = Launch;
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
