#include "dovetail/interop/tvm_ffi/error.h"

#include <tvm/ffi/function.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(TvmFfiErrorTest, AStatusBecomesTheErrorThatPythonKnows) {
  const tvm::ffi::Error error = ToTvmFfiError(absl::InvalidArgumentError("two dimensions"));
  EXPECT_EQ(error.kind(), "ValueError");
  EXPECT_EQ(error.message(), "two dimensions");
  EXPECT_EQ(ToTvmFfiError(absl::OutOfRangeError("")).kind(), "IndexError");
  EXPECT_EQ(ToTvmFfiError(absl::FailedPreconditionError("")).kind(), "ValueError");
  EXPECT_EQ(ToTvmFfiError(absl::DataLossError("")).kind(), "RuntimeError");
}

TEST(TvmFfiErrorTest, AnErrorBecomesAStatus) {
  const auto fails =
      tvm::ffi::Function::FromTyped([](int64_t i) { TVM_FFI_THROW(IndexError) << "no row " << i; });
  try {
    fails(3);
    FAIL();
  } catch (const tvm::ffi::Error& error) {
    EXPECT_EQ(StatusOf(error), absl::OutOfRangeError("no row 3"));
  }
  EXPECT_EQ(StatusOf(tvm::ffi::Error("ValueError", "x", "")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StatusOf(tvm::ffi::Error("OtherError", "x", "")).code(), absl::StatusCode::kUnknown);
}

}  // namespace
}  // namespace dovetail
