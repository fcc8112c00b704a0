#include "dovetail/interop/ipc/handle.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

// Where the numbers stand in a handle's bytes.
constexpr size_t kVersionAt = 4, kChecksumAt = 8, kCheckedAt = 16, kReadOnlyAt = 28, kPaddedAt = 29;
constexpr size_t kHeadBytes = 48, kLongestName = 4096;

Handle AHandle() {
  return {.device = Device::Cpu(),
          .dtype = kInt32,
          .layout = *Layout::Contiguous({2, 3}),
          .memory = "a name"};
}

// As whoever writes handles computes it: FNV-1a.
std::string WithChecksum(std::string bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (size_t i = kCheckedAt; i < bytes.size(); ++i) {
    sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  }
  std::memcpy(&bytes[kChecksumAt], &sum, sizeof sum);
  return bytes;
}

std::string Refusal(const std::string& bytes) {
  const absl::Status status = Handle::FromBytes(bytes).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(IpcHandle, WhatIsWrittenIsRead) {
  for (const Packing packing : {Packing::kPacked, Packing::kPadded}) {
    for (const Access access : {Access::kReadOnly, Access::kReadWrite}) {
      Handle handle = AHandle();
      handle.device = Device::Cuda(3);
      handle.options = {.access = access, .packing = packing};
      handle.byte_offset = 24;
      const Handle again = *Handle::FromBytes(handle.ToBytes());
      EXPECT_EQ(again.device, handle.device);
      EXPECT_EQ(again.dtype, handle.dtype);
      EXPECT_EQ(again.options.access, access);
      EXPECT_EQ(again.options.packing, packing);
      EXPECT_EQ(again.layout, handle.layout);
      EXPECT_EQ(again.memory, "a name");
      EXPECT_EQ(again.byte_offset, 24);
    }
  }
}

TEST(IpcHandle, TheChecksumIsFnv1a) {
  EXPECT_EQ(AHandle().ToBytes(), WithChecksum(AHandle().ToBytes()));
}

TEST(IpcHandle, DamagedBytesAreRefused) {
  const std::string whole = AHandle().ToBytes();
  EXPECT_THAT(Refusal(""), HasSubstr("0 bytes, and the shortest handle has 48"));
  EXPECT_THAT(Refusal(whole.substr(0, kHeadBytes - 1)), HasSubstr("the shortest handle has 48"));
  EXPECT_THAT(Refusal(whole + 'x'), HasSubstr("should have"));
  EXPECT_THAT(Refusal('X' + whole.substr(1)), HasSubstr("magic number"));
  std::string bytes = whole;
  bytes.back() ^= 1;
  EXPECT_THAT(Refusal(bytes), HasSubstr("checksum"));
  bytes = whole;
  bytes[kVersionAt] = 77;
  EXPECT_THAT(Refusal(WithChecksum(bytes)), HasSubstr("version 77"));
}

TEST(IpcHandle, UnknownFlagsAreRefused) {
  for (const size_t at : {kReadOnlyAt, kPaddedAt}) {
    std::string bytes = AHandle().ToBytes();
    bytes[at] = 2;
    EXPECT_THAT(Refusal(WithChecksum(bytes)), HasSubstr("flags"));
  }
}

TEST(IpcHandle, AVeryLongNameIsRefused) {
  Handle handle = AHandle();
  handle.memory.assign(kLongestName, 'n');
  EXPECT_EQ(Handle::FromBytes(handle.ToBytes())->memory, handle.memory);
  handle.memory += 'n';
  EXPECT_THAT(Refusal(handle.ToBytes()), HasSubstr("a name of 4097 bytes"));
}

TEST(IpcHandle, ElementsNeedAName) {
  Handle handle = AHandle();
  handle.layout = *Layout::Contiguous({});
  handle.memory.clear();
  const std::string bytes = handle.ToBytes();
  EXPECT_EQ(bytes.size(), kHeadBytes);
  EXPECT_THAT(Refusal(bytes), HasSubstr("names no memory"));
  handle.layout = *Layout::Contiguous({0});
  EXPECT_TRUE(Handle::FromBytes(handle.ToBytes()).ok());
}

TEST(IpcHandle, IsTextForPeople) {
  Handle handle = AHandle();
  EXPECT_EQ(handle.ToString(), "int32 tensor of shape (2, 3), strides (3, 1), on cpu");
  handle.options.access = Access::kReadOnly;
  EXPECT_THAT(handle.ToString(), testing::StartsWith("read-only int32"));
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
