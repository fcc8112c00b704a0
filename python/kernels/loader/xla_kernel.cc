#include "dovetail/python/kernels/loader/xla_kernel.h"

#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"
#include "dovetail/python/kernels/loader/xla_arguments.h"
#include "dovetail/python/kernels/xla_ffi.h"

namespace dovetail::python {
namespace {

using internal_kernels::kXlaMajor;
using internal_kernels::XlaApiVersion;
using internal_kernels::XlaExtension;
using internal_kernels::XlaMetadata;
using internal_kernels::XlaMetadataExtension;

// Answers what XLA asks before the first call: the version of the interface, which is its own.
void GiveMetadata(const XlaCallFrame& frame) {
  XlaMetadata* const metadata = reinterpret_cast<XlaMetadataExtension*>(frame.extension)->metadata;
  const XlaApiVersion& theirs = frame.api->version;
  metadata->api_version.major = kXlaMajor;
  metadata->api_version.minor = theirs.minor;
  metadata->traits = 0;
  if (metadata->struct_size >= sizeof(XlaMetadata)) metadata->state_type = 0;
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
  return XlaErrorOf(frame, failure);
}

}  // namespace dovetail::python
