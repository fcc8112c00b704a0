// For tests of lists and fixed shape tensors: what a tensor is exported to. A test may change a
// field before it imports it again.
//
//   Export(Iota({3, 2}));
//   array.n_children = 2;
//   EXPECT_THAT(Refusal(), HasSubstr("2 children"));

#ifndef DOVETAIL_INTEROP_ARROW_NESTED_FIXTURE_H_
#define DOVETAIL_INTEROP_ARROW_NESTED_FIXTURE_H_

#include <cstdint>
#include <string>

#include "dovetail/core/config.h"
#include "dovetail/interop/arrow/export.h"
#include "dovetail/interop/arrow/import.h"
#include "dovetail/interop/testing/tensors.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class Nested : public testing::Test {
 protected:
  ArrowSchema schema = {};
  ArrowArray array = {};
  uint8_t bits = 0;

  void Export(const Tensor& tensor, const ToArrowOptions& options = {}) {
    const absl::Status status = ToArrow(tensor, &schema, &array, options);
    ASSERT_TRUE(status.ok()) << status;
  }
  absl::StatusOr<Tensor> Import() { return FromArrow(&schema, &array); }
  std::string Refusal() {
    const absl::Status status = Import().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(array.release, nullptr) << "taken, in failure too";
    return std::string(status.message());
  }
  static ArrowArray& Child(ArrowArray& lists) { return *lists.children[0]; }
  static ArrowSchema& Child(ArrowSchema& lists) { return *lists.children[0]; }
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_NESTED_FIXTURE_H_
