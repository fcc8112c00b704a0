// For tests: a managed tensor as another library would export it. It holds 2 x 3 float32 elements
// on the CPU. Every field can be changed, and calls of the deleter are counted.
//
//   Foreign<DLManagedTensorVersioned> f;
//   f.tensor().ndim = -1;
//   … FromDLPack(&f.managed) … EXPECT_EQ(f.deleted, 1);
//
// Must outlive every tensor imported from it. A second call of the deleter is then counted and does
// not crash.

#ifndef DOVETAIL_INTEROP_DLPACK_TESTING_FOREIGN_H_
#define DOVETAIL_INTEROP_DLPACK_TESTING_FOREIGN_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>

#include "dlpack/dlpack.h"
#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Managed>
struct Foreign {
  static constexpr bool kVersioned = std::is_same_v<Managed, DLManagedTensorVersioned>;

  float data[6] = {0, 1, 2, 3, 4, 5};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {3, 1};
  std::atomic<int> deleted{0};
  std::thread::id deleted_on;
  Managed managed = {};

  Foreign() {
    if constexpr (kVersioned) {
      managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    }
    managed.manager_ctx = this;
    managed.deleter = [](Managed* self) {
      auto* foreign = static_cast<Foreign*>(self->manager_ctx);
      foreign->deleted_on = std::this_thread::get_id();
      ++foreign->deleted;
    };
    tensor() = {.data = data,
                .device = {kDLCPU, 0},
                .ndim = 2,
                .dtype = {kDLFloat, 32, 1},
                .shape = shape,
                .strides = strides,
                .byte_offset = 0};
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;

  DLTensor& tensor() { return managed.dl_tensor; }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_DLPACK_TESTING_FOREIGN_H_
