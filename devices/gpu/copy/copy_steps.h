// Helpers for copies of several steps: a second stream, temporary memory, and bytes on the host.
// Internal to the Copier.
//
//   CopySteps steps(context, temporaries, stream);
//   absl::StatusOr<void*> p = steps.Allocate(nbytes, stream);       // freed with `steps`
//   absl::Status s = steps.Fork(other);                             // `other` follows `stream`
//   ... work on `other` ...
//   s = steps.Join();                                               // `stream` follows `other`
//
// One thread.

#ifndef DOVETAIL_DEVICES_GPU_COPY_COPY_STEPS_H_
#define DOVETAIL_DEVICES_GPU_COPY_COPY_STEPS_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/stream.h"
#include "dovetail/core/tensor_view.h"
#include "dovetail/devices/gpu/copy/copier.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

class CopySteps {
 public:
  CopySteps(GpuContext& context, const Copier::TemporaryAllocator& temporaries,
            const Stream& stream)
      : context_(context), temporaries_(temporaries), stream_(stream) {}
  ~CopySteps();
  CopySteps(const CopySteps&) = delete;
  CopySteps& operator=(const CopySteps&) = delete;

  // Later work of `other` starts after the current work of the copy's stream.
  absl::Status Fork(const Stream& other);
  // Later work of the copy's stream starts after the work of the stream that was forked. Without
  // it, as after an error, the destructor has the host wait for that work.
  absl::Status Join();
  // Memory of `on`'s device, usable on `on` at once. It is freed in the order of `on`. The other
  // stream may use it between Fork and Join.
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& on);

 private:
  struct Temporary {
    Allocator* allocator;
    void* data;
    size_t nbytes;
    Stream used_on;
  };

  absl::Status Order(const Stream& first, const Stream& then);

  GpuContext& context_;
  const Copier::TemporaryAllocator& temporaries_;
  const Stream& stream_;
  std::optional<Stream> forked_;
  std::vector<Temporary> temporaries_held_;
};

// The bytes that a view spans, and a copy of them on the host.
class HostCopy {
 public:
  explicit HostCopy(const TensorView& view);

  const TensorView& view() const { return view_; }
  TensorView host_view();  // `view` over the host's bytes; `view` itself if it is on the CPU
  TensorView host_bytes();
  TensorView device_bytes();

 private:
  TensorView Bytes(void* data, Device device) const;

  TensorView view_;
  int64_t begin_ = 0;         // offset of the first byte from element 0
  int64_t dims_[2] = {0, 1};  // shape and stride of the bytes
  std::vector<char> bytes_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_COPY_STEPS_H_
