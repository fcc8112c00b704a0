// Streams: those that this library makes, counted; what the codes of DLPack mean; and which streams
// are known to be captured into a graph.
//
//   Streams streams(runtime);
//   absl::StatusOr<Stream> s = streams.Create(Device::Cuda(0));
//   absl::StatusOr<StreamRequest> r = streams.Decode(Device::Cuda(0), 1);     // the legacy stream
//
// A made stream goes with its last copy: its handle is put aside, and destroyed by the next call of
// Create or DestroyPending, since the last copy may go inside a deleter. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_
#define DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/stream.h"
#include "dovetail/devices/gpu/runtime/runtime.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class Streams {
 public:
  explicit Streams(Runtime& runtime) : runtime_(runtime), table_(std::make_shared<Table>()) {}

  absl::StatusOr<Stream> Create(Device device);
  void DestroyPending();

  // Rules 46 and 47. A handle that is one of ours comes back as the counted Stream.
  absl::StatusOr<StreamRequest> Decode(Device device, std::optional<int64_t> code);
  absl::StatusOr<std::optional<int64_t>> Encode(const Stream& stream) const;

  absl::Status Synchronize(const Stream& stream);
  // Whether the stream's work so far is known to be done. One that is captured is not asked, nor
  // the legacy stream while any may be.
  bool IsIdle(const Stream& stream);

  // Whether the stream is being captured. Remembers the answer for MayCapture. The default stream
  // never is.
  absl::StatusOr<bool> IsCapturing(const Stream& stream);
  // Whether a stream that was seen captured may be so still. What is known of a borrowed one is
  // old: it counts until it is seen again, or until it is forgotten.
  bool MayCapture();
  void ForgetBorrowedCaptures();
  // Whether a stream of ours, or this thread's current one on the device, is captured now.
  bool IsCaptureOpen(Device device);

 private:
  // Shared with the streams' owners, which may outlive the backend.
  struct Table {
    absl::Mutex mutex;
    absl::flat_hash_map<std::pair<int, NativeStream>, std::weak_ptr<void>> made
        ABSL_GUARDED_BY(mutex);
    std::vector<std::pair<int, NativeStream>> dead ABSL_GUARDED_BY(mutex);
    absl::flat_hash_set<std::pair<int, NativeStream>> captured ABSL_GUARDED_BY(mutex);
  };
  struct Owner;

  // Those of ours that were last seen captured, and whether there are borrowed ones.
  std::vector<Stream> SeenCaptured(bool* any_borrowed);
  std::optional<Stream> FindMade(Device device, NativeStream handle);

  Runtime& runtime_;
  std::shared_ptr<Table> table_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_
