#include "dovetail/devices/gpu/runtime/runtime.h"

#include <pthread.h>

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {
namespace {

std::atomic<int> forks{0};

// The number of forks between the first process and this one.
int CountForks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

absl::Status Runtime::Load() {
  absl::MutexLock lock(&mutex_);
  if (is_loaded_.load(std::memory_order_relaxed)) return loaded_;
  const int forks_before = CountForks();
  if (!api_.load(api_.self, &reason_)) {
    if (missing_.message() != reason_) missing_ = absl::UnavailableError(reason_);
    return missing_;
  }
  forks_before_ = forks_before;
  loaded_ = DescribeDevices();
  if (!loaded_.ok()) infos_.clear();
  active_ = std::vector<std::atomic<bool>>(infos_.size());
  is_loaded_.store(true, std::memory_order_release);
  return loaded_;
}

absl::Status Runtime::DescribeDevices() {
  int count = 0;
  const Result result = api_.device_count(api_.self, &count);
  if (Classify(result) == ResultClass::kNoDevice || (result == 0 && count == 0)) {
    return absl::UnavailableError(
        absl::StrCat("The ", vendor().product, " driver is there, and finds no device."));
  }
  absl::Status s = Check(result, "counting the devices");
  for (int i = 0; s.ok() && i < count; ++i) {
    s = Check(api_.device_info(api_.self, i, &infos_.emplace_back()),
              absl::StrCat("describing device ", i));
  }
  return s;
}

absl::Status Runtime::Ready() {
  if (!is_loaded_.load(std::memory_order_acquire)) {
    if (absl::Status s = Load(); !s.ok()) return s;
  }
  if (!loaded_.ok()) return loaded_;
  if (IsForkedChild()) {
    return absl::FailedPreconditionError(absl::StrCat(
        vendor().product,
        " can't be used in this process: it was forked from one that had used it before. Start "
        "processes by spawn instead (multiprocessing.get_context(\"spawn\")), or fork first."));
  }
  return absl::OkStatus();
}

bool Runtime::IsForkedChild() const {
  return is_loaded_.load(std::memory_order_acquire) &&
         forks.load(std::memory_order_relaxed) != forks_before_;
}

absl::StatusOr<int> Runtime::DeviceCount() {
  if (absl::Status s = Ready(); !s.ok()) return s;
  return static_cast<int>(infos_.size());
}

std::vector<std::string> Runtime::LibraryFiles() {
  std::vector<std::string> files;
  if (Ready().ok() && api_.library_files != nullptr) api_.library_files(api_.self, &files);
  return files;
}

absl::Status Runtime::CheckDevice(Device device) {
  if (absl::Status s = Ready(); !s.ok()) return s;
  const Device found = StreamDevice(device);
  if (found.type == vendor().device && found.index >= 0 &&
      found.index < static_cast<int>(infos_.size())) {
    return absl::OkStatus();
  }
  const size_t last = infos_.size() - 1;
  return absl::NotFoundError(absl::StrCat(
      "There is no device ", device.ToString(), "; the ", vendor().product, " driver finds ",
      infos_.size() == 1 ? "one" : absl::StrCat(infos_.size()), ": ", vendor().name, ":0",
      last == 0 ? "." : absl::StrCat(" to ", vendor().name, ":", last, ".")));
}

absl::Status Runtime::Check(Result result, std::string_view what) const {
  if (result == 0) return absl::OkStatus();
  const std::string message =
      absl::StrCat(vendor().product, ", ", what, ": ", api_.describe(api_.self, result), ".");
  switch (Classify(result)) {
    case ResultClass::kOk:
      return absl::OkStatus();
    case ResultClass::kOutOfMemory:
      return absl::ResourceExhaustedError(message);
    case ResultClass::kInvalidValue:
    case ResultClass::kInvalidHandle:
      return absl::InvalidArgumentError(message);
    case ResultClass::kNotSupported:
      return absl::UnimplementedError(message);
    case ResultClass::kNoDevice:
    case ResultClass::kShuttingDown:
      return absl::UnavailableError(message);
    case ResultClass::kCaptureViolation:
      return absl::FailedPreconditionError(message);
    case ResultClass::kNotReady:
    case ResultClass::kPeerAlreadyEnabled:
    case ResultClass::kOther:
      break;
  }
  return absl::InternalError(message);
}

int Runtime::AskWhetherInUse(int device) const {
  bool in_use = false;
  if (!Exists(device) || api_.device_in_use == nullptr) return -1;
  if (api_.device_in_use(api_.self, device, &in_use) != 0) return -1;
  return in_use ? 1 : 0;
}

int Runtime::HostMemoryDevice(int otherwise) const {
  const int count = static_cast<int>(infos_.size());
  int current = -1;
  if (api_.current_device != nullptr) (void)api_.current_device(api_.self, &current);
  if (current >= count) current = -1;
  if (current >= 0 && IsInUse(current)) return current;
  for (int device = 0; device < count; ++device) {
    if (IsActive(device)) return device;
  }
  for (int device = 0; device < count; ++device) {
    if (AskWhetherInUse(device) == 1) return device;
  }
  return current >= 0 ? current : otherwise;
}

DeviceGuard::DeviceGuard(Runtime& runtime, int device) : runtime_(runtime) {
  status_ = runtime.CheckDevice(runtime.DeviceAt(device));
  if (!status_.ok()) return;
  status_ = runtime.Check(runtime.api().push_device(runtime.api().self, device, &previous_),
                          "selecting the device");
  if (status_.ok()) runtime.MarkActive(device);
}

DeviceGuard::~DeviceGuard() {
  if (status_.ok()) runtime_.api().pop_device(runtime_.api().self, previous_);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
