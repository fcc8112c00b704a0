#include "dovetail/core/uses.h"

#include <algorithm>
#include <new>
#include <utility>

namespace dovetail::inline DOVETAIL_ABI {

void Uses::AddStream(const Stream& stream, UseKind kind) noexcept {
  absl::MutexLock lock(&mutex_);
  for (Use& use : streams_) {
    if (use.stream == stream) {
      if (kind == UseKind::kWork) use.kind = kind;
      return;
    }
  }
  try {
    streams_.push_back({stream, kind});
  } catch (const std::bad_alloc&) {
    unknown_ = true;
  }
}

void Uses::AddEvent(Event event) noexcept {
  absl::MutexLock lock(&mutex_);
  try {
    events_.push_back(std::move(event));
  } catch (const std::bad_alloc&) {
    unknown_ = true;
  }
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

void Uses::Forget(const Stream& stream) {
  absl::MutexLock lock(&mutex_);
  for (auto use = streams_.begin(); use != streams_.end(); ++use) {
    if (use->stream == stream) {
      streams_.erase(use);
      return;
    }
  }
}

void Uses::ForgetEvents() {
  absl::MutexLock lock(&mutex_);
  events_.clear();
}

}  // namespace dovetail::inline DOVETAIL_ABI
