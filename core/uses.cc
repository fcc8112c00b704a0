#include "dovetail/core/uses.h"

#include <algorithm>
#include <new>
#include <utility>

#include "dovetail/core/internal/exceptions.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

void Uses::AddStream(const Stream& stream, UseKind kind) noexcept {
  absl::MutexLock lock(&mutex_);
  for (Use& use : streams_) {
    if (use.stream == stream) {
      if (kind == UseKind::kWork) use.kind = kind;
      return;
    }
  }
  DOVETAIL_TRY { streams_.push_back({stream, kind}); }
  DOVETAIL_CATCH(const std::bad_alloc&) { unknown_ = true; }
}

void Uses::AddEvent(Event event) noexcept {
  absl::MutexLock lock(&mutex_);
  DOVETAIL_TRY { events_.push_back(std::move(event)); }
  DOVETAIL_CATCH(const std::bad_alloc&) { unknown_ = true; }
}

void Uses::AddUnknown() noexcept {
  absl::MutexLock lock(&mutex_);
  unknown_ = true;
}

Uses::UseList Uses::streams() const {
  absl::MutexLock lock(&mutex_);
  return streams_;
}

Uses::EventList Uses::events() const {
  absl::MutexLock lock(&mutex_);
  return events_;
}

bool Uses::has_unknown() const {
  absl::MutexLock lock(&mutex_);
  return unknown_;
}

bool Uses::has_work() const {
  absl::MutexLock lock(&mutex_);
  return unknown_ || !events_.empty() ||
         std::any_of(streams_.begin(), streams_.end(),
                     [](const Use& use) { return use.kind == UseKind::kWork; });
}

bool Uses::HasOthers(absl::FunctionRef<bool(DeviceType)> is_own) const {
  absl::MutexLock lock(&mutex_);
  return std::any_of(streams_.begin(), streams_.end(),
                     [&](const Use& use) { return !is_own(use.stream.device().type); }) ||
         std::any_of(events_.begin(), events_.end(),
                     [&](const Event& event) { return !is_own(event.device().type); });
}

void Uses::DropStreams(absl::FunctionRef<bool(const Use&)> is_done) {
  absl::MutexLock lock(&mutex_);
  streams_.erase(std::remove_if(streams_.begin(), streams_.end(), is_done), streams_.end());
}

void Uses::DropEvents(absl::FunctionRef<bool(const Event&)> has_happened) {
  absl::MutexLock lock(&mutex_);
  events_.erase(std::remove_if(events_.begin(), events_.end(), has_happened), events_.end());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
