#include <string>
#include <thread>
#include <vector>

#include "dovetail/core/registry.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

using testing::HasSubstr;

class IpcTest : public testing::Test {
 protected:
  // 0, 1, 2, … in shared memory.
  static Tensor Counting(absl::Span<const int64_t> shape) {
    Tensor t = *Empty(shape, kInt32);
    for (int64_t i = 0; i < t.num_elements(); ++i) static_cast<int32_t*>(t.raw_data())[i] = i;
    return t;
  }

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
};

TEST_F(IpcTest, AnotherProcessOpensAViewOfTheSameMemory) {
  const Tensor t = Counting({2, 3});
  const std::string bytes = Share(*t.Permute({1, 0})->Slice(0, {.start = 1}))->ToBytes();
  ChildProcess child([&](Channel& parent) {
    const Tensor u = *Open(*Handle::FromBytes(bytes));
    parent.Send(u.ToString());
    static_cast<int32_t*>(u.raw_data())[3] += 36;  // element (1, 1) of t
  });
  EXPECT_EQ(child.Receive<std::string>(), "int32 tensor of shape (2, 2), strides (1, 3), on cpu");
  EXPECT_EQ(child.Join(), 0);
  EXPECT_EQ(static_cast<int32_t*>(t.raw_data())[4], 40);
}

TEST_F(IpcTest, AHandleSaysWhatTheTensorIs) {
  const Tensor t = Counting({4}).ReadOnly();
  const Handle handle = *Share(t);
  const Handle again = *Handle::FromBytes(handle.ToBytes());
  EXPECT_EQ(again.device, Device::Cpu());
  EXPECT_EQ(again.dtype, kInt32);
  EXPECT_EQ(again.layout, t.layout());
  EXPECT_EQ(again.options.access, Access::kReadOnly);
  EXPECT_EQ(again.ToString(), t.ToString());
  EXPECT_TRUE(Open(again)->is_read_only());
  EXPECT_EQ(Open(again)->raw_data(), t.raw_data());
}

TEST_F(IpcTest, PaddedElementsAndManyDimensionsAreKept) {
  const std::vector<int64_t> shape(Layout::kMaxRank, 1);
  const Tensor t = *Tensor::Make(Counting({4}).storage(), 2, kFloat4E2M1Fn,
                                 *Layout::Contiguous(shape), {.packing = Packing::kPadded});
  const Tensor u = *Open(*Handle::FromBytes(Share(t)->ToBytes()));
  EXPECT_EQ(u.packing(), Packing::kPadded);
  EXPECT_EQ(u.layout(), t.layout());
  EXPECT_EQ(u.raw_data(), t.raw_data());
}

TEST_F(IpcTest, ADeviceWithANegativeIndexIsRefused) {
  Handle handle = *Share(Counting({0}));
  handle.device.index = -1;
  const absl::Status status = Handle::FromBytes(handle.ToBytes()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("device"));
}

TEST_F(IpcTest, OrdinaryMemoryIsRefusedWithTheRemedyAndCanBeCopied) {
  const Tensor t = *Tensor::Empty({2}, kInt32);
  const absl::Status s = Share(t).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("ipc::CopyToShared"));
  static_cast<int32_t*>(t.raw_data())[1] = 7;
  const Tensor copy = *CopyToShared(*t.Slice(0, {.step = -1}));
  const Tensor u = *Open(*Share(copy));
  EXPECT_EQ(static_cast<int32_t*>(u.raw_data())[0], 7);
}

TEST_F(IpcTest, OpeningWhatWasReleasedIsAnError) {
  Tensor t = Counting({4});
  const Handle handle = *Share(t);
  t = Tensor();
  EXPECT_EQ(Open(handle).status().code(), absl::StatusCode::kFailedPrecondition);
  const Tensor later = Counting({4});
  EXPECT_EQ(Open(handle).status().code(), absl::StatusCode::kFailedPrecondition)
      << "its memory is another tensor's now";
}

TEST_F(IpcTest, ThreadsMakeShareAndOpenAtTheSameTime) {
  const Tensor t = Counting({8});
  const std::string bytes = Share(t)->ToBytes();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        EXPECT_EQ(Open(*Handle::FromBytes(bytes))->raw_data(), t.raw_data());
        const Tensor own = Counting({3});
        EXPECT_EQ(Open(*Share(own))->raw_data(), own.raw_data());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// All threads open and release the process's only mapping.
TEST_F(IpcTest, ThreadsOpenMemoryOfAnotherProcessAtTheSameTime) {
  ChildProcess owner([](Channel& parent) {
    const Tensor t = Counting({8});
    parent.Send(Share(t)->ToBytes());
    parent.Receive<char>();
  });
  const Handle handle = *Handle::FromBytes(owner.Receive<std::string>());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const absl::StatusOr<Tensor> t = Open(handle);
        ASSERT_TRUE(t.ok()) << t.status();
        EXPECT_EQ(static_cast<const int32_t*>(t->raw_data())[7], 7);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  owner.Send('x');
  EXPECT_EQ(owner.Join(), 0);
}

TEST_F(IpcTest, ANullTensorAndADeviceWithoutBackendAreErrors) {
  EXPECT_EQ(Share(Tensor()).status().code(), absl::StatusCode::kFailedPrecondition);
  Handle handle = *Share(Counting({1}));
  handle.device.type = DeviceType::kMetal;
  EXPECT_EQ(Open(handle).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(IpcTest, WhatReachesOutsideOfTheMemoryIsAnErrorAndLetsItGo) {
  Tensor t = Counting({4});
  Handle handle = *Share(t);
  handle.byte_offset = 4084;  // the memory has 4 KiB
  EXPECT_EQ(Open(handle).status().code(), absl::StatusCode::kInvalidArgument);
  handle.byte_offset = 0;
  t = Tensor();
  EXPECT_EQ(Open(handle).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
