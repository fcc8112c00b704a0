// Uses: what was given work on one block of memory, so that whoever uses or reuses it next can
// wait.
//
//   uses.AddStream(stream, UseKind::kWork);     // ours: it lasts as long as it is noted here
//   uses.AddEvent(*backend->Record(borrowed));  // somebody else's, which may be gone tomorrow
//   uses.AddUnknown();                          // a consumer, on streams that it did not tell
//
// A stream of somebody else's is known by its handle only during the call it is passed to, so that
// an event after its work so far is kept instead. What a consumer does later on streams of its own
// leaves nothing to keep: `unknown` says so, and the backend has to wait for all that the device
// holds before the memory is used again.
//
// Any thread; nothing here throws: where memory runs out, the uses become unknown. The members at
// the end belong to whoever releases the memory later: a Uses is its own link in their list, so
// that giving memory back allocates nothing.

#ifndef DOVETAIL_CORE_USES_H_
#define DOVETAIL_CORE_USES_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Allocator;

// What is called once, on whichever thread drops the last reference to memory that was lent. A null
// function: nothing to release.
struct Release {
  void (*function)(void* context) = nullptr;
  void* context = nullptr;
};

enum class UseKind {
  kWork,   // the stream reads or writes the memory
  kOrder,  // the stream waited until the memory was ready, and was given no work on it
};

class Uses {
 public:
  struct Use {
    Stream stream;
    UseKind kind;
  };
  using UseList = absl::InlinedVector<Use, 2>;
  using EventList = absl::InlinedVector<Event, 1>;

  Uses() = default;
  Uses(const Uses&) = delete;
  Uses& operator=(const Uses&) = delete;

  // `stream` is kept: one that lasts (Stream::is_lasting), or one of a device that no backend
  // serves, whose handle is only handed on.
  void AddStream(const Stream& stream, UseKind kind) noexcept;
  // Work that is done once `event` has happened.
  void AddEvent(Event event) noexcept;
  void AddUnknown() noexcept;

  UseList streams() const;
  EventList events() const;
  bool has_unknown() const;
  // Whether the memory may still be in use when the last reference to it is dropped.
  bool has_work() const;

  // Forgets the events that have happened. (Streams are kept: one that is idle now may be given
  // work by another thread at any time.)
  void DropEvents(absl::FunctionRef<bool(const Event&)> has_happened);

  // For whoever releases the memory later.
  Uses* next = nullptr;
  void* data = nullptr;
  size_t nbytes = 0;
  Allocator* allocator = nullptr;  // null: `release`
  Release release;
  EventList awaited;  // events that were recorded for the release

 private:
  mutable absl::Mutex mutex_;
  UseList streams_ ABSL_GUARDED_BY(mutex_);
  EventList events_ ABSL_GUARDED_BY(mutex_);
  bool unknown_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_USES_H_
