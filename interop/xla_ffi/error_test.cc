#include "dovetail/interop/xla_ffi/error.h"

#include "dovetail/interop/xla_ffi/stream.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

TEST(ToFfiErrorTest, OkIsSuccess) { EXPECT_TRUE(ToFfiError(absl::OkStatus()).success()); }

TEST(ToFfiErrorTest, KeepsTheCodeAndTheMessage) {
  const xla::ffi::Error error = ToFfiError(absl::OutOfRangeError("no row 3"));
  EXPECT_TRUE(error.failure());
  EXPECT_EQ(error.errc(), xla::ffi::ErrorCode::kOutOfRange);
  EXPECT_EQ(error.message(), "no row 3");
}

TEST(XlaStreamTest, BorrowsTheHandleOfAnyType) {
  struct SomeStream* theirs = reinterpret_cast<SomeStream*>(uintptr_t{0x50});
  const Stream stream = XlaStream(theirs, Device::Cuda(2));
  EXPECT_EQ(stream.native(), NativeStream{0x50});
  EXPECT_EQ(stream.device(), Device::Cuda(2));
  EXPECT_FALSE(stream.is_owned());
}

}  // namespace
}  // namespace dovetail
