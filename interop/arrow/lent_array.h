// For tests: an Arrow array made by hand. Any field can be set to a wrong value, and calls of
// `release` are counted.
//
//   LentArray lent;                                    // float32: 0, 1, …, 7
//   absl::StatusOr<Tensor> x = FromArrow(&lent.schema, &lent.array);
//   EXPECT_EQ(lent.releases, 0);                       // the tensor holds it
//
// Must outlive every tensor made from it. Not thread-safe.

#ifndef DOVETAIL_INTEROP_ARROW_LENT_ARRAY_H_
#define DOVETAIL_INTEROP_ARROW_LENT_ARRAY_H_

#include <array>
#include <cstdint>

#include "dovetail/core/config.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct LentArray {
  std::array<float, 8> values = {0, 1, 2, 3, 4, 5, 6, 7};
  const void* buffers[2] = {nullptr, values.data()};
  int releases = 0;
  int schema_releases = 0;
  ArrowSchema schema = {
      .format = "f", .name = "", .flags = 2, .release = &ReleaseSchema, .private_data = this};
  ArrowArray array = {.length = 8,
                      .n_buffers = 2,
                      .buffers = buffers,
                      .release = &ReleaseArray,
                      .private_data = this};

  LentArray() = default;
  LentArray(const LentArray&) = delete;
  LentArray& operator=(const LentArray&) = delete;

  ArrowDeviceArray OnDevice(ArrowDeviceType type, int64_t id, void* event = nullptr) {
    ArrowDeviceArray result = {
        .array = array, .device_id = id, .device_type = type, .sync_event = event};
    array.release = nullptr;
    return result;
  }

 private:
  static void ReleaseSchema(ArrowSchema* schema) {
    ++static_cast<LentArray*>(schema->private_data)->schema_releases;
    schema->release = nullptr;
  }
  static void ReleaseArray(ArrowArray* array) {
    ++static_cast<LentArray*>(array->private_data)->releases;
    array->release = nullptr;
  }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_LENT_ARRAY_H_
