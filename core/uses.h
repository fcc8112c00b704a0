// Uses: the work that was enqueued on one block of memory. The next user, and the allocator before
// it reuses the memory, waits for this work.
//
//   uses.AddStream(stream, UseKind::kWork);     // a lasting stream: it is kept alive
//   uses.AddEvent(*backend->Record(borrowed));  // a borrowed stream, which may be destroyed
//   uses.AddUnknown();                          // a consumer on unknown streams
//
// The handle of a borrowed stream is valid only during the call that it is passed to. An event
// after its work so far is recorded instead. The later work of a consumer on its own streams can't
// be recorded. has_unknown() reports it, and the backend waits for all work on the device before
// the memory is reused.
//
// Any thread. Nothing here throws: if memory runs out, the uses become unknown. The public members
// at the end are for the code that releases the memory later. A Uses is its own list node, so that
// giving memory back allocates nothing.

#ifndef DOVETAIL_CORE_USES_H_
#define DOVETAIL_CORE_USES_H_

#include <cstddef>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/memory.h"
#include "dovetail/core/stream.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Allocator;

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

  // Keeps `stream`. It must be lasting (Stream::is_lasting), or of a device that no backend serves;
  // the handle is only passed on then.
  void AddStream(const Stream& stream, UseKind kind) noexcept;
  // Records work that is done once `event` has completed.
  void AddEvent(Event event) noexcept;
  void AddUnknown() noexcept;

  UseList streams() const;
  EventList events() const;
  bool has_unknown() const;
  // Whether the memory may still be in use when the last reference to it is dropped.
  bool has_work() const;

  // Drops the events that have completed. Streams are kept, because another thread may enqueue work
  // on an idle stream at any time.
  void DropEvents(absl::FunctionRef<bool(const Event&)> has_happened);

  // For the owner of memory that nobody uses any more: whether some work is of a device for which
  // `is_own` is false, and the end of work that has been waited for.
  bool HasOthers(absl::FunctionRef<bool(DeviceType)> is_own) const;
  void DropStreams(absl::FunctionRef<bool(const Use&)> is_done);

  // For the code that releases the memory later.
  Uses* next = nullptr;
  void* data = nullptr;
  size_t nbytes = 0;
  Allocator* allocator = nullptr;  // if null, `release` is called
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
