#include "dovetail/interop/ipc/handle.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

// The head of a handle's bytes. Numbers follow, and then the memory's name.
constexpr size_t kVersionAt = 2, kFlagsAt = 3, kChecksumAt = 4, kHeadBytes = 8;
constexpr uint8_t kReadOnly = 1, kPadded = 2, kRowMajor = 4;
constexpr size_t kLongestName = 4096;

Handle AHandle() {
  return {.device = Device::Cpu(),
          .dtype = kInt32,
          .layout = *Layout::Contiguous({2, 3}),
          .memory = "a name"};
}

// A handle's checksum: FNV-1a of the flags and of all bytes after the head.
std::string WithChecksum(std::string bytes) {
  const auto flags = static_cast<unsigned char>(bytes[kFlagsAt]);
  uint64_t sum = (0xcbf29ce484222325 ^ flags) * 0x100000001b3;
  for (size_t i = kHeadBytes; i < bytes.size(); ++i) {
    sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3;
  }
  const auto folded = static_cast<uint32_t>(sum ^ sum >> 32);
  std::memcpy(&bytes[kChecksumAt], &folded, sizeof folded);
  return bytes;
}

// A handle of these numbers, each as the digits that stand for it.
std::string Assemble(uint8_t flags, std::initializer_list<std::string> numbers) {
  std::string bytes = {'D', 'T', 3, static_cast<char>(flags), 0, 0, 0, 0};
  for (const std::string& number : numbers) bytes += number;
  return WithChecksum(bytes + "a name");
}
// The digits of a number and of a signed number.
std::string N(uint64_t number) {
  std::string digits;
  for (; number > 127; number >>= 7) digits += static_cast<char>(number | 128);
  return digits += static_cast<char>(number);
}
std::string S(int64_t number) {
  return N(static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63));
}
std::string Kind(DType dtype) { return N(static_cast<uint64_t>(dtype.kind)); }

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

TEST(IpcHandle, TheChecksumIsAFoldedFnv1a) {
  EXPECT_EQ(AHandle().ToBytes(), WithChecksum(AHandle().ToBytes()));
}

TEST(IpcHandle, EveryDamagedByteAndEveryCutIsFound) {
  Handle handle = AHandle();
  for (const bool is_strided : {false, true}) {
    if (is_strided) handle.layout = *Layout::Strided({2, 3}, {-7, 1000});
    const std::string whole = handle.ToBytes();
    ASSERT_TRUE(Handle::FromBytes(whole).ok());
    for (size_t i = 0; i < whole.size(); ++i) {
      for (int change = 1; change < 256; ++change) {
        std::string bytes = whole;
        bytes[i] = static_cast<char>(bytes[i] ^ change);
        EXPECT_FALSE(Handle::FromBytes(bytes).ok()) << "byte " << i << " changed by " << change;
      }
      Refusal(whole.substr(0, i));
      Refusal(whole.substr(i + 1));
    }
    for (int c = 0; c < 256; ++c) Refusal(whole + static_cast<char>(c));
  }
}

TEST(IpcHandle, ARefusalSaysWhatIsWrong) {
  const std::string whole = AHandle().ToBytes();
  EXPECT_THAT(Refusal(""), HasSubstr("0 bytes, and the shortest handle has more than 8"));
  EXPECT_THAT(Refusal(whole.substr(0, kHeadBytes - 1)), HasSubstr("shortest handle"));
  EXPECT_THAT(Refusal(whole + 'x'), HasSubstr("checksum"));
  EXPECT_THAT(Refusal('X' + whole.substr(1)), HasSubstr("magic number"));
  std::string bytes = whole;
  bytes[kVersionAt] = 77;
  EXPECT_THAT(Refusal(WithChecksum(bytes)), HasSubstr("version 77"));
  EXPECT_THAT(Refusal(WithChecksum(whole.substr(0, kHeadBytes))), HasSubstr("cut short"));
}

TEST(IpcHandle, AHandleOfTheFirstVersionIsRefusedByName) {
  EXPECT_THAT(Refusal("DIPC"), HasSubstr("of an older Dovetail"));
  EXPECT_THAT(Refusal("DIPC" + std::string(60, '\0')), HasSubstr("of an older Dovetail"));
  EXPECT_THAT(Refusal("DIP"), HasSubstr("3 bytes"));
}

TEST(IpcHandle, UnknownFlagsAreRefused) {
  for (int flag = 8; flag < 256; flag *= 2) {
    std::string bytes = AHandle().ToBytes();
    bytes[kFlagsAt] = static_cast<char>(bytes[kFlagsAt] | flag);
    EXPECT_THAT(Refusal(WithChecksum(bytes)), HasSubstr("flags"));
  }
}

TEST(IpcHandle, NumbersAreWrittenInAsFewBytesAsTheyNeed) {
  const std::string bytes =
      Assemble(kRowMajor, {S(static_cast<int32_t>(DeviceType::kCpu)), S(0), Kind(kInt32), N(32),
                           N(1), N(2), S(2), S(3), S(0)});
  EXPECT_EQ(AHandle().ToBytes(), bytes);
  EXPECT_EQ(bytes.size(), kHeadBytes + 9 + 6);
}

TEST(IpcHandle, TheLargestAndSmallestNumbersAreKept) {
  Handle handle = AHandle();
  handle.device.index = INT32_MAX;
  for (const int64_t offset : {INT64_MAX, INT64_MIN, int64_t{-1}, int64_t{63}, int64_t{64}}) {
    handle.byte_offset = offset;
    EXPECT_EQ(Handle::FromBytes(handle.ToBytes())->byte_offset, offset);
  }
  handle.layout = *Layout::Strided({1, 1, 0}, {INT64_MAX, INT64_MIN, -1});
  const Handle again = *Handle::FromBytes(handle.ToBytes());
  EXPECT_EQ(again.layout, handle.layout);
  EXPECT_EQ(again.device, handle.device);
}

TEST(IpcHandle, NumbersWithTooManyDigitsAreRefused) {
  const auto with_offset = [](const std::string& digits) {
    return Assemble(kRowMajor, {S(static_cast<int32_t>(DeviceType::kCpu)), S(0), Kind(kInt32),
                                N(32), N(1), N(0), digits});
  };
  const std::string nine(9, '\xff');
  EXPECT_EQ(Handle::FromBytes(with_offset(nine + '\1'))->byte_offset, INT64_MIN);
  EXPECT_THAT(Refusal(with_offset(nine + '\2')), HasSubstr("too many digits"));
  EXPECT_THAT(Refusal(with_offset(nine + '\x7f')), HasSubstr("too many digits"));
  EXPECT_THAT(Refusal(with_offset(nine + "\x81\1")), HasSubstr("too many digits"));
  EXPECT_THAT(Refusal(with_offset(std::string(200, '\x80'))), HasSubstr("too many digits"));
  // Digits of zeros in front are read as the number that they are.
  EXPECT_EQ(Handle::FromBytes(with_offset(std::string("\x8e\x80\0", 3)))->byte_offset, 7);
}

TEST(IpcHandle, NumbersThatDescribeNoTensorAreRefused) {
  const std::string cpu = S(static_cast<int32_t>(DeviceType::kCpu)), kind = Kind(kInt32);
  const auto refusal = [](uint8_t flags, std::initializer_list<std::string> numbers) {
    return Refusal(Assemble(flags, numbers));
  };
  for (const uint64_t rank : {uint64_t{65}, uint64_t{1} << 40, ~uint64_t{0}}) {
    EXPECT_THAT(refusal(kRowMajor, {cpu, S(0), kind, N(32), N(1), N(rank)}),
                HasSubstr(absl::StrCat("it declares ", rank, " dimensions")));
  }
  for (const int64_t index : {int64_t{-1}, int64_t{1} << 31, INT64_MIN, INT64_MAX}) {
    EXPECT_THAT(refusal(kRowMajor, {cpu, S(index), kind, N(32), N(1), N(0), S(0)}),
                HasSubstr(absl::StrCat("its device has the index ", index)));
  }
  for (const int64_t type : {int64_t{1} << 31, -(int64_t{1} << 31) - 1, INT64_MAX}) {
    EXPECT_THAT(refusal(kRowMajor, {S(type), S(0), kind, N(32), N(1), N(0), S(0)}),
                HasSubstr("its device has the type"));
  }
  EXPECT_THAT(refusal(kRowMajor, {cpu, S(0), N(256), N(32), N(1), N(0), S(0)}),
              HasSubstr("no type that there is"));
  EXPECT_THAT(refusal(kRowMajor, {cpu, S(0), kind, N(256), N(1), N(0), S(0)}),
              HasSubstr("no type that there is"));
  EXPECT_THAT(refusal(kRowMajor, {cpu, S(0), kind, N(32), N(65536), N(0), S(0)}),
              HasSubstr("no type that there is"));
  for (const auto& [bits, lanes] : {std::pair{0, 1}, {31, 1}, {32, 0}}) {
    Refusal(Assemble(kRowMajor, {cpu, S(0), kind, N(static_cast<uint64_t>(bits)),
                                 N(static_cast<uint64_t>(lanes)), N(0), S(0)}));
  }
  EXPECT_THAT(refusal(kRowMajor, {cpu, S(0), kind, N(32), N(1), N(1), S(-1), S(0)}),
              HasSubstr("negative"));
  refusal(kRowMajor, {cpu, S(0), kind, N(32), N(1), N(2), S(INT64_MAX), S(INT64_MAX), S(0)});
  refusal(0, {cpu, S(0), kind, N(32), N(1), N(2), S(INT64_MAX), S(3), S(1), S(1), S(0)});
}

TEST(IpcHandle, EachFlagIsWhatItSays) {
  const std::initializer_list<std::string> numbers = {
      S(static_cast<int32_t>(DeviceType::kCpu)), S(0), Kind(kInt32), N(32), N(1), N(0), S(0)};
  EXPECT_EQ(Handle::FromBytes(Assemble(kReadOnly, numbers))->options.access, Access::kReadOnly);
  EXPECT_EQ(Handle::FromBytes(Assemble(kPadded, numbers))->options.packing, Packing::kPadded);
  const Handle plain = *Handle::FromBytes(Assemble(0, numbers));
  EXPECT_EQ(plain.options.access, Access::kReadWrite);
  EXPECT_EQ(plain.options.packing, Packing::kPacked);
}

TEST(IpcHandle, TheMostDimensionsAreKept) {
  std::vector<int64_t> shape(Layout::kMaxRank, 1), strides(Layout::kMaxRank);
  shape[3] = 5;
  for (size_t i = 0; i < strides.size(); ++i) strides[i] = static_cast<int64_t>(i * i * i) - 1000;
  Handle handle = AHandle();
  handle.layout = *Layout::Strided(shape, strides);
  EXPECT_EQ(Handle::FromBytes(handle.ToBytes())->layout, handle.layout);
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
  EXPECT_THAT(Refusal(handle.ToBytes()), HasSubstr("names no memory"));
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
