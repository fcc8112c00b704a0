// A producer of managed tensors as most libraries write one: a struct from new, and a deleter that
// deletes it. What it costs itself is the step `producer_alone`.

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

// 4 x 4 float32 at `data`, on the CPU.
inline DLManagedTensorVersioned* ProduceForeign(void* data) {
  auto* f = new Foreign{.managed = {}, .shape = {4, 4}, .strides = {4, 1}};
  f->managed = {
      .version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
      .manager_ctx = f,
      .deleter = [](DLManagedTensorVersioned* m) { delete static_cast<Foreign*>(m->manager_ctx); },
      .flags = 0,
      .dl_tensor = {.data = data,
                    .device = {kDLCPU, 0},
                    .ndim = 2,
                    .dtype = {kDLFloat, 32, 1},
                    .shape = f->shape,
                    .strides = f->strides,
                    .byte_offset = 0},
  };
  return &f->managed;
}

}  // namespace dovetail_benchmarks

#endif  // DOVETAIL_BENCHMARKS_FOREIGN_PRODUCER_H_
