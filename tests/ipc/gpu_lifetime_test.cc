// When a GPU's memory returns to its allocator if other processes have it open.

#include <dirent.h>

#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/tests/ipc/shared_gpu.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_P(SharedGpuTest, MemoryIsNotReusedWhileAnotherProcessHasIt) {
  for (const char* allocator : {"direct", "caching(direct)"}) {
    SCOPED_TRACE(allocator);
    Start({.vendor = GetParam()});
    ChildProcess child(Borrower());
    ASSERT_TRUE(backend().SelectAllocator(device(), MemoryKind::kShared, allocator).ok());
    Tensor t = Counting6();
    const void* data = t.raw_data();
    OpenIn(child, *ipc::Share(t));
    t = Tensor();
    Trim();
    EXPECT_TRUE(gpu().IsLive(data));
    const Tensor other = *ipc::Empty({2, 3}, kInt32, device());
    EXPECT_NE(other.raw_data(), data);
    EXPECT_EQ(FirstIn(child), 0);
    EXPECT_TRUE(LetGoIn(child));
    Trim();
    EXPECT_FALSE(gpu().IsLive(data));
  }
}

TEST_P(SharedGpuTest, MemoryThatWentToAnUnknownConsumerIsHeldAsWell) {
  ChildProcess child(Borrower());
  Tensor t = Counting6();
  const void* data = t.raw_data();
  OpenIn(child, *ipc::Share(t));
  ASSERT_TRUE(t.storage()->Share(std::nullopt).ok());
  t = Tensor();
  Trim();
  EXPECT_TRUE(gpu().IsLive(data));
  LetGoIn(child);
  Trim();
  EXPECT_FALSE(gpu().IsLive(data));
}

// A test of the test: it notices an error.
TEST_P(SharedGpuTest, FreeingWhatIsBorrowedWouldBeSeen) {
  ChildProcess child(Borrower());
  Tensor t = Counting6();
  OpenIn(child, *ipc::Share(t));
  gpu().Free(t.raw_data());
  EXPECT_EQ(FirstIn(child), static_cast<int32_t>(0xDFDFDFDF));
  t = Tensor();
  LetGoIn(child);
  Trim();
  EXPECT_THAT(gpu().TakeComplaints(), testing::Not(testing::IsEmpty()));
}

TEST_P(SharedGpuTest, MemoryThatWasLentGoesBackOnlyWhenNobodyHasIt) {
  ChildProcess child(Borrower());
  void* lent = gpu().Malloc(0, 64);
  bool released = false;
  Tensor t = *Tensor::Make(
      Storage::Adopt(static_cast<char*>(lent) + 16, 24, device(),
                     {[](void* flag) { *static_cast<bool*>(flag) = true; }, &released}),
      0, kInt32, *Layout::Contiguous({2, 3}), {});
  ASSERT_TRUE(CopyInto(t, Counting({2, 3})).ok());
  const ipc::Handle handle = *ipc::Share(t);
  EXPECT_EQ(handle.byte_offset, 16);
  OpenIn(child, handle);
  t = Tensor();
  Trim();
  EXPECT_FALSE(released);
  EXPECT_EQ(FirstIn(child), 0);
  LetGoIn(child);
  Trim();
  EXPECT_TRUE(released);
  gpu().Free(lent);
}

TEST_P(SharedGpuTest, ABorrowerThatIsKilledHoldsNothing) {
  ChildProcess child(Borrower());
  Tensor t = Counting6();
  const void* data = t.raw_data();
  OpenIn(child, *ipc::Share(t));
  t = Tensor();
  Trim();
  EXPECT_TRUE(gpu().IsLive(data));
  child.Kill();
  Trim();
  EXPECT_FALSE(gpu().IsLive(data));
}

TEST_P(SharedGpuTest, OpeningWhatWasReleasedIsAnError) {
  ChildProcess child(Borrower()), second(Borrower());
  Tensor t = Counting6();
  const ipc::Handle handle = *ipc::Share(t);
  OpenIn(child, handle);
  t = Tensor();
  Trim();
  // Held for the first borrower, closed for all others.
  EXPECT_THAT(OpenIn(second, handle), HasSubstr("has released it"));
  EXPECT_THAT(OpenIn(child, handle), HasSubstr("has released it"));
  LetGoIn(child);
  Trim();
  EXPECT_THAT(OpenIn(second, handle), HasSubstr("has released it"));
}

TEST_P(SharedGpuTest, MemoryOfAProcessThatHasEndedIsAnError) {
  ChildProcess owner([this](Channel& parent) {
    StartInChild();
    const Tensor t = Counting6();
    parent.Send(ipc::Share(t)->ToBytes());
    parent.Receive<char>();
  });
  const ipc::Handle handle = *ipc::Handle::FromBytes(owner.Receive<std::string>());
  EXPECT_TRUE(ipc::Open(handle).ok());
  owner.Kill();
  EXPECT_THAT(Text(ipc::Open(handle).status()), HasSubstr("has ended"));
  Trim();
  ipc::UnlinkLeftBehind();
}

TEST_P(SharedGpuTest, InTheSameProcessItIsTheSameMemoryAndStillHeld) {
  Tensor t = Counting6();
  void* data = t.raw_data();
  const ipc::Handle handle = *ipc::Share(t);
  Tensor u = *ipc::Open(handle);
  EXPECT_EQ(u.raw_data(), data);
  EXPECT_EQ(gpu().counts().ipc_opens, 0);  // a driver would refuse it
  t = Tensor();
  Trim();
  EXPECT_TRUE(gpu().IsLive(data));
  EXPECT_THAT(Values(u), ElementsAre(0, 1, 2, 3, 4, 5));
  u = Tensor();
  Trim();
  Trim();  // the first trim returned the borrowed memory
  EXPECT_FALSE(gpu().IsLive(data));
}

TEST_P(SharedGpuTest, ManyCyclesLeaveNothingBehind) {
  ChildProcess child([this](Channel& parent) {
    StartInChild();
    while (true) {
      const auto bytes = parent.Receive<std::string>();
      if (bytes.empty()) break;
      {
        const Tensor t = *ipc::Open(*ipc::Handle::FromBytes(bytes));
      }
      Trim();
      parent.Send(true);
    }
    int files = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr) ++files;
    closedir(folder);
    parent.Send(files);
    parent.Send(gpu().counts());
  });
  constexpr int kCycles = 500;
  const size_t before = gpu().LiveBytes(0);
  for (int i = 0; i < kCycles; ++i) {
    Tensor t = *ipc::Empty({i % 7 + 1}, kInt32, device());
    child.Send(ipc::Share(t)->ToBytes());
    ASSERT_TRUE(child.Receive<bool>());
    t = Tensor();
    Trim();
    ASSERT_EQ(gpu().LiveBytes(0), before);
  }
  child.Send(std::string());
  EXPECT_LT(child.Receive<int>(), 60);
  const auto counts = child.Receive<emulator::CallCounts>();
  EXPECT_EQ(counts.ipc_opens, kCycles);
  EXPECT_EQ(counts.ipc_closes, kCycles);
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
