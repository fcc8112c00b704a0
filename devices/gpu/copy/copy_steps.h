// What copies of several steps need on the way: streams on both devices, temporary memory, and
// bytes brought to the host. Internal to copier.cc.
//
//   CopySteps steps(context, temporaries, stream);
//   absl::StatusOr<void*> p = steps.Allocate(nbytes, on, also_used_by);     // gone with `steps`
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

  // The stream of the copy where it is the device's, else one made for it.
  absl::StatusOr<Stream> StreamOn(Device device);
  // Later work of `then` starts after what `first` holds.
  absl::Status Order(const Stream& first, const Stream& then);
  // Memory of the device of `on`, ready for use on it, that `also` may use too.
  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& on, const Stream& also);

 private:
  struct Temporary {
    Allocator* allocator;
    void* data;
    size_t nbytes;
    std::vector<Stream> used_on;
  };

  GpuContext& context_;
  const Copier::TemporaryAllocator& temporaries_;
  const Stream& stream_;
  std::vector<Temporary> temporaries_held_;
};

// The bytes that a view reaches, and the same on the host.
class HostCopy {
 public:
  explicit HostCopy(const TensorView& view);

  const TensorView& view() const { return view_; }
  TensorView host_view();  // `view` in the host's bytes; itself where it is on the CPU
  TensorView host_bytes();
  TensorView device_bytes();

 private:
  TensorView Bytes(void* data, Device device) const;

  TensorView view_;
  int64_t begin_ = 0;         // of the first byte reached, from element 0
  int64_t dims_[2] = {0, 1};  // how many bytes, and their stride
  std::vector<char> bytes_;
};

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_COPY_COPY_STEPS_H_
