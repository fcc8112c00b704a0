// A producer of managed tensors as most libraries write it: a struct from new, and a deleter that
// deletes it. The step `producer_alone` measures its own cost.

#ifndef DOVETAIL_BENCHMARKS_FOREIGN_PRODUCER_H_
#define DOVETAIL_BENCHMARKS_FOREIGN_PRODUCER_H_

#include <cstdint>

#include "dlpack/dlpack.h"

namespace dovetail_benchmarks {

struct Foreign {
  DLManagedTensorVersioned managed;
  int64_t shape[2];
  int64_t strides[2];
};

// A managed tensor of 4 x 4 float32 at `data`, on the CPU.
inline DLManagedTensorVersioned* ProduceForeign(void* data) {
  auto* f = new Foreign;
  f->shape[0] = f->shape[1] = f->strides[0] = 4;
  f->strides[1] = 1;
  DLManagedTensorVersioned& m = f->managed;
  m.version.major = DLPACK_MAJOR_VERSION;
  m.version.minor = DLPACK_MINOR_VERSION;
  m.manager_ctx = f;
  m.deleter = [](DLManagedTensorVersioned* self) {
    delete static_cast<Foreign*>(self->manager_ctx);
  };
  m.flags = 0;
  m.dl_tensor.data = data;
  m.dl_tensor.device = {kDLCPU, 0};
  m.dl_tensor.ndim = 2;
  m.dl_tensor.dtype = {kDLFloat, 32, 1};
  m.dl_tensor.shape = f->shape;
  m.dl_tensor.strides = f->strides;
  m.dl_tensor.byte_offset = 0;
  return &m;
}

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_FOREIGN_PRODUCER_H_
