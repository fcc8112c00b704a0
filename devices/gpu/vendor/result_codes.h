// The meaning of the vendors' error numbers. CUDA's driver and HIP share the numbers that are used
// here; each vendor's folder checks them by static_assert against its header.
//
//   ClassifyCode(2)                                  // ResultClass::kOutOfMemory
//   ResultTexts texts; texts.Get(2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory")

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_RESULT_CODES_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_RESULT_CODES_H_

#include <cstring>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

enum : Result {
  kCodeSuccess = 0,
  kCodeInvalidValue = 1,
  kCodeOutOfMemory = 2,
  kCodeDeinitialized = 4,
  kCodeNoDevice = 100,
  kCodeInvalidDevice = 101,
  kCodeInvalidContext = 201,
  kCodeInvalidHandle = 400,
  kCodeNotReady = 600,
  kCodePeerAlreadyEnabled = 704,
  kCodeContextIsDestroyed = 709,
  kCodeNotSupported = 801,
  kCodeFirstOfCapture = 900,
  kCodeLastOfCapture = 908,
};

constexpr ResultClass ClassifyCode(Result code) {
  switch (code) {
    case kCodeSuccess:
      return ResultClass::kOk;
    case kCodeInvalidValue:
      return ResultClass::kInvalidValue;
    case kCodeOutOfMemory:
      return ResultClass::kOutOfMemory;
    case kCodeDeinitialized:
      return ResultClass::kShuttingDown;
    case kCodeNoDevice:
      return ResultClass::kNoDevice;
    case kCodeInvalidDevice:
    case kCodeInvalidContext:
    case kCodeInvalidHandle:
    case kCodeContextIsDestroyed:
      return ResultClass::kInvalidHandle;
    case kCodeNotReady:
      return ResultClass::kNotReady;
    case kCodePeerAlreadyEnabled:
      return ResultClass::kPeerAlreadyEnabled;
    case kCodeNotSupported:
      return ResultClass::kNotSupported;
    default:
      return code >= kCodeFirstOfCapture && code <= kCodeLastOfCapture
                 ? ResultClass::kCaptureViolation
                 : ResultClass::kOther;
  }
}

// Keeps "NAME: text" of each code as long as the process. Any thread.
class ResultTexts {
 public:
  const char* Get(Result code, const char* name, const char* text) {
    absl::MutexLock lock(&mutex_);
    std::string& kept = texts_[code];
    if (kept.empty()) {
      // Some versions of HIP return the name as the text.
      const bool has_text = text != nullptr && name != nullptr && std::strcmp(name, text) != 0;
      kept = name == nullptr ? absl::StrCat("error ", code)
             : has_text      ? absl::StrCat(name, ": ", text)
                             : std::string(name);
    }
    return kept.c_str();
  }

 private:
  absl::Mutex mutex_;
  std::map<Result, std::string> texts_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_RESULT_CODES_H_
