#include "dovetail/python/kernels/loader/xla_kernel.h"

#include <algorithm>

#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"
#include "dovetail/python/kernels/loader/xla_arguments.h"
#include "dovetail/python/kernels/loader/xla_ffi.h"

namespace dovetail::python {
namespace {

// Answers what XLA asks before the first call: the version of the interface, which is its own.
void GiveMetadata(const XlaCallFrame& frame) {
  XlaMetadata* const metadata =
      reinterpret_cast<XlaMetadataExtension*>(frame.extension)->metadata;
  const XlaApiVersion& theirs = frame.api->version;
  metadata->api_version.major = kXlaMajor;
  metadata->api_version.minor = theirs.minor;
  metadata->traits = 0;
  if (metadata->struct_size >= sizeof(XlaMetadata)) metadata->state_type = 0;
}

XlaErrorCode CodeOf(int32_t kind) {
  switch (kind) {
    case DOVETAIL_VALUE_ERROR:
    case DOVETAIL_TYPE_ERROR:
      return kXlaInvalidArgument;
    case DOVETAIL_INDEX_ERROR:
    case DOVETAIL_OVERFLOW_ERROR:
      return kXlaOutOfRange;
    case DOVETAIL_MEMORY_ERROR:
      return kXlaResourceExhausted;
    default:
      return kXlaInternal;
  }
}

bool Run(const DovetailKernel& kernel, const XlaCallFrame& frame, int32_t device_type,
         KernelFailure* failure) {
  const LoadedKernel* const loaded = LoadedOf(kernel);
  if (loaded == nullptr) {
    return failure->Say(DOVETAIL_RUNTIME_ERROR,
                        "the kernel was not loaded by dovetail.load_kernels()");
  }
  XlaArguments arguments(*loaded, frame, device_type);
  return arguments.Load(failure) && arguments.call().Run(nullptr, failure);
}

}  // namespace

void* RunXlaKernel(const DovetailKernel* kernel, void* call_frame, int32_t device_type) {
  const auto& frame = *static_cast<const XlaCallFrame*>(call_frame);
  if (frame.extension != nullptr && frame.extension->type == XlaExtension::kMetadata) {
    GiveMetadata(frame);
    return nullptr;
  }
  KernelFailure failure;
  bool done = false;
  try {
    done = Run(*kernel, frame, device_type, &failure);
  } catch (...) {
    internal_kernels::Report(&failure);
  }
  if (done) [[likely]]
    return nullptr;
  XlaErrorCreateArgs error = {sizeof(XlaErrorCreateArgs), nullptr, failure.message.c_str(),
                              CodeOf(failure.kind)};
  return frame.api->error_create(&error);
}

}  // namespace dovetail::python
