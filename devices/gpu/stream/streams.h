// Streams: creates reference-counted streams, converts DLPack's stream codes, and tracks which
// streams are being captured into a graph.
//
//   Streams streams(runtime);
//   absl::StatusOr<Stream> s = streams.Create(Device::Cuda(0));
//   absl::StatusOr<StreamRequest> r = streams.Decode(Device::Cuda(0), 1);     // the legacy stream
//
// The last copy of a stream may be destroyed inside a deleter, which may not call the vendor. The
// next call of Create or DestroyPending destroys the handle. Any thread.

#ifndef DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_
#define DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_

#include <cstddef>
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

  // Rules 46 and 47 of docs/protocol.md. The handle of a stream that Create made gives that Stream.
  // Another library's stream is held (RuntimeApi::stream_hold) if the runtime can, else borrowed.
  absl::StatusOr<StreamRequest> Decode(Device device, std::optional<int64_t> code);
  absl::StatusOr<std::optional<int64_t>> Encode(const Stream& stream) const;

  absl::Status Synchronize(const Stream& stream);
  // Whether the stream's work is known to be done. Does not query a stream that is being captured,
  // nor the legacy stream while any stream may be.
  bool IsIdle(const Stream& stream);
  // The same for a stream that was just found outside of a capture.
  bool IsIdleOutsideCapture(const Stream& stream);

  // Whether the stream is being captured; false for the default stream. Remembers the answer for
  // MayCapture.
  absl::StatusOr<bool> IsCapturing(const Stream& stream);
  // Whether a stream that was seen in a capture may still be in it. A borrowed stream counts until
  // IsCapturing sees it again, or until ForgetBorrowedCaptures.
  bool MayCapture();
  void ForgetBorrowedCaptures();
  // Whether one of our streams, or this thread's current stream on the device, is being captured.
  bool IsCaptureOpen(Device device);

 private:
  // Shared with the owners of streams, which may outlive the backend.
  struct Table {
    absl::Mutex mutex;
    absl::flat_hash_map<std::pair<int, NativeStream>, std::weak_ptr<void>> made
        ABSL_GUARDED_BY(mutex);
    size_t alive ABSL_GUARDED_BY(mutex) = 0;  // owners
    std::vector<std::pair<int, NativeStream>> dead ABSL_GUARDED_BY(mutex);
    absl::flat_hash_set<std::pair<int, NativeStream>> captured ABSL_GUARDED_BY(mutex);
  };
  struct Owner;

  // Our streams that were last seen in a capture; sets whether borrowed ones were seen, too.
  std::vector<Stream> SeenCaptured(bool* any_borrowed);
  std::optional<Stream> FindMade(Device device, NativeStream handle);
  bool IsDefaultOf(Device device, NativeStream handle) const;
  absl::StatusOr<Stream> Hold(Device device, NativeStream handle);
  Stream Keep(Device device, NativeStream handle);

  Runtime& runtime_;
  std::shared_ptr<Table> table_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_STREAM_STREAMS_H_
