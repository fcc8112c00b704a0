#include "dovetail/devices/gpu/stream/streams.h"

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

// Owns a stream that Create made.
struct Streams::Owner {
  Owner(std::shared_ptr<Table> t, int d, NativeStream h)
      : table(std::move(t)), device(d), handle(h) {}
  ~Owner() {
    absl::MutexLock lock(&table->mutex);
    // A stream that is held anew may have taken the entry meanwhile.
    const auto entry = table->made.find({device, handle});
    if (entry != table->made.end() && entry->second.expired()) table->made.erase(entry);
    --table->alive;
    table->captured.erase({device, handle});
    table->dead.emplace_back(device, handle);  // Create reserved the room
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  std::shared_ptr<Table> table;
  int device;
  NativeStream handle;
};

absl::StatusOr<Stream> Streams::Create(Device device) {
  device = StreamDevice(device);
  if (absl::Status s = runtime_.CheckDevice(device); !s.ok()) return s;
  DestroyPending();
  DeviceGuard guard(runtime_, device.index);
  if (!guard.ok()) return guard.status();
  const RuntimeApi& api = runtime_.api();
  NativeStream handle{};
  absl::Status s = runtime_.Check(api.stream_create(api.self, &handle), "creating a stream");
  if (!s.ok()) return s;
  return Keep(device, handle);
}

// The Stream that destroys the handle with its last copy.
Stream Streams::Keep(Device device, NativeStream handle) {
  auto owner = std::make_shared<Owner>(table_, device.index, handle);
  {
    absl::MutexLock lock(&table_->mutex);
    table_->made[{device.index, handle}] = owner;
    ++table_->alive;
    table_->dead.reserve(table_->alive + table_->dead.size());
  }
  return Stream::Own(device, handle, std::move(owner));
}

void Streams::DestroyPending() {
  std::vector<std::pair<int, NativeStream>> dead;
  {
    absl::MutexLock lock(&table_->mutex);
    if (table_->dead.empty()) return;
    dead.swap(table_->dead);
    table_->dead.reserve(table_->alive);
  }
  const RuntimeApi& api = runtime_.api();
  for (const auto& [device, handle] : dead) {
    DeviceGuard guard(runtime_, device);
    if (guard.ok()) api.stream_destroy(api.self, handle);
  }
}

std::optional<Stream> Streams::FindMade(Device device, NativeStream handle) {
  absl::MutexLock lock(&table_->mutex);
  const auto found = table_->made.find({device.index, handle});
  if (found == table_->made.end()) return std::nullopt;
  std::shared_ptr<void> owner = found->second.lock();
  if (owner == nullptr) return std::nullopt;
  return Stream::Own(device, handle, std::move(owner));
}

absl::StatusOr<StreamRequest> Streams::Decode(Device device, std::optional<int64_t> code) {
  if (absl::Status s = runtime_.CheckDevice(device); !s.ok()) return s;
  // A consumer that names no stream reads such memory on the host, as NumPy does.
  const bool host_reads = IsHostAccessible(device.type) && !code.has_value();
  device = StreamDevice(device);
  // The consumer works there. If the runtime can tell that it has not yet, it will tell later, too.
  if (!runtime_.IsUntouched(device.index)) runtime_.MarkActive(device.index);
  const RuntimeApi& api = runtime_.api();
  switch (runtime_.vendor().stream_codes.Meaning(code)) {
    case StreamMeaning::kNoSync:
      return StreamRequest{};
    case StreamMeaning::kLegacy:
      return StreamRequest{.stream = Stream::Default(device), .host_waits = host_reads};
    case StreamMeaning::kHostWaits:
      return StreamRequest{.stream = Stream::Default(device), .host_waits = true};
    case StreamMeaning::kPerThread:
      return StreamRequest{Stream::Borrow(device, api.per_thread_stream)};
    case StreamMeaning::kRefused:
      return absl::InvalidArgumentError(absl::StrCat(
          runtime_.vendor().product, " has no stream ", *code, " (the array API standard refuses ",
          *code, " there); pass None for the default stream, -1 for none, or a stream's address."));
    case StreamMeaning::kHandle:
      break;
  }
  const NativeStream handle{static_cast<uintptr_t>(*code)};
  std::optional<Stream> ours = FindMade(device, handle);
  if (ours.has_value()) return StreamRequest{std::move(ours)};
  if (IsDefaultOf(device, handle)) return StreamRequest{Stream::Default(device)};
  Stream stream = Stream::Borrow(device, handle);
  if (api.stream_device != nullptr) {
    int index = 0;
    if (const Result result = api.stream_device(api.self, handle, &index); result != 0) {
      return runtime_.Check(result, absl::StrCat("asking for the device of ", stream.ToString()));
    }
    if (index != device.index) {
      return absl::InvalidArgumentError(absl::StrCat(
          stream.ToString(), " is none: it belongs to ", runtime_.DeviceAt(index).ToString(),
          ". Pass a stream of the tensor's own device."));
    }
  }
  if (api.stream_hold != nullptr) {
    absl::StatusOr<Stream> held = Hold(device, handle);
    if (!held.ok()) return held.status();
    stream = *std::move(held);
  }
  return StreamRequest{std::move(stream)};
}

bool Streams::IsDefaultOf(Device device, NativeStream handle) const {
  const RuntimeApi& api = runtime_.api();
  NativeStream found{};
  return api.default_stream != nullptr && api.default_stream(api.self, device.index, &found) == 0 &&
         found == handle;
}

absl::StatusOr<Stream> Streams::Hold(Device device, NativeStream handle) {
  DestroyPending();
  const RuntimeApi& api = runtime_.api();
  NativeStream own{};
  absl::Status s = runtime_.Check(api.stream_hold(api.self, handle, &own), "keeping a stream");
  if (!s.ok()) return s;
  if (IsDefaultOf(device, own)) return Stream::Default(device);
  if (std::optional<Stream> known = FindMade(device, own)) {
    api.stream_destroy(api.self, own);  // it is held already
    return *std::move(known);
  }
  return Keep(device, own);
}

absl::StatusOr<std::optional<int64_t>> Streams::Encode(const Stream& stream) const {
  if (absl::Status s = runtime_.CheckDevice(stream.device()); !s.ok()) return s;
  const NativeStream native = runtime_.Native(stream);
  const StreamCodes& codes = runtime_.vendor().stream_codes;
  if (native == runtime_.api().legacy_stream) {
    const RuntimeApi& api = runtime_.api();
    if (api.default_stream == nullptr) return codes.legacy;
    NativeStream handle{};
    absl::Status s =
        runtime_.Check(api.default_stream(api.self, StreamDevice(stream.device()).index, &handle),
                       "asking for the default stream");
    if (!s.ok()) return s;
    return static_cast<int64_t>(handle);
  }
  if (native == runtime_.api().per_thread_stream) {
    if (codes.per_thread) return codes.per_thread;
    return absl::InvalidArgumentError(
        absl::StrCat("DLPack has no code for the per-thread default stream of ",
                     runtime_.vendor().product, "; use another stream."));
  }
  return static_cast<int64_t>(native);
}

absl::Status Streams::Synchronize(const Stream& stream) {
  if (runtime_.IsUntouched(stream)) return absl::OkStatus();
  DeviceGuard guard(runtime_, StreamDevice(stream.device()).index);
  if (!guard.ok()) return guard.status();
  const RuntimeApi& api = runtime_.api();
  absl::StatusOr<bool> capturing = IsCapturing(stream);
  if (!capturing.ok()) return capturing.status();
  if (*capturing) {
    return absl::FailedPreconditionError(absl::StrCat("The host can't wait for ", stream.ToString(),
                                                      " while it is captured into a graph."));
  }
  // A wait for the default stream would break the capture of another.
  if (runtime_.Native(stream) == api.legacy_stream &&
      IsCaptureOpen(StreamDevice(stream.device()))) {
    return absl::FailedPreconditionError(
        absl::StrCat("The host can't wait for ", stream.ToString(),
                     " while another stream is captured into a graph."));
  }
  return runtime_.Check(api.stream_synchronize(api.self, runtime_.Native(stream)),
                        "waiting for a stream");
}

bool Streams::IsIdle(const Stream& stream) {
  absl::StatusOr<bool> capturing = IsCapturing(stream);
  return capturing.ok() && !*capturing && IsIdleOutsideCapture(stream);
}

bool Streams::IsIdleOutsideCapture(const Stream& stream) {
  const NativeStream native = runtime_.Native(stream);
  const RuntimeApi& api = runtime_.api();
  if (runtime_.IsUntouched(stream)) return true;
  if (native == api.legacy_stream && MayCapture()) return false;
  DeviceGuard guard(runtime_, stream.device().index);
  return guard.ok() && api.stream_query(api.self, native) == 0;
}

absl::StatusOr<bool> Streams::IsCapturing(const Stream& stream) {
  const RuntimeApi& api = runtime_.api();
  const NativeStream native = runtime_.Native(stream);
  if (native == api.legacy_stream) return false;
  const int device = StreamDevice(stream.device()).index;
  DeviceGuard guard(runtime_, device);
  if (!guard.ok()) return guard.status();
  CaptureStatus status = CaptureStatus::kNone;
  if (const Result r = api.stream_capture_status(api.self, native, &status); r != 0) {
    return runtime_.Check(r, absl::StrCat("asking whether ", stream.ToString(), " is captured"));
  }
  const bool capturing = status != CaptureStatus::kNone;
  absl::MutexLock lock(&table_->mutex);
  if (capturing) {
    table_->captured.insert({device, native});
  } else if (!table_->captured.empty()) {
    table_->captured.erase({device, native});
  }
  return capturing;
}

std::vector<Stream> Streams::SeenCaptured(bool* any_borrowed) {
  std::vector<Stream> ours;
  *any_borrowed = false;
  absl::MutexLock lock(&table_->mutex);
  for (const auto& [device, handle] : table_->captured) {
    const auto made = table_->made.find({device, handle});
    std::shared_ptr<void> owner = made == table_->made.end() ? nullptr : made->second.lock();
    if (owner == nullptr) {
      *any_borrowed = true;
    } else {
      ours.push_back(Stream::Own(runtime_.DeviceAt(device), handle, std::move(owner)));
    }
  }
  return ours;
}

bool Streams::MayCapture() {
  bool any_borrowed;
  for (const Stream& stream : SeenCaptured(&any_borrowed)) {
    absl::StatusOr<bool> capturing = IsCapturing(stream);
    if (!capturing.ok() || *capturing) return true;
  }
  return any_borrowed;
}

bool Streams::IsCaptureOpen(Device device) {
  bool any_borrowed;
  for (const Stream& stream : SeenCaptured(&any_borrowed)) {
    if (stream.device() == device && IsCapturing(stream).value_or(true)) return true;
  }
  return IsCapturing(CurrentStream(device)).value_or(true);
}

void Streams::ForgetBorrowedCaptures() {
  absl::MutexLock lock(&table_->mutex);
  // (Clang does not follow the lock through erase_if into a lambda.)
  absl::erase_if(table_->captured, [this](const auto& key) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return !table_->made.contains(key);
  });
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
