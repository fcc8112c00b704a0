// Copies between two emulated GPUs of one vendor, with access to each other's memory and without.

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/devices/gpu/copy/copier.h"
#include "dovetail/tests/emulator/fixture.h"

namespace dovetail {
namespace {

using gpu::ResultClass;
using testing::HasSubstr;

class BetweenDevices : public EmulatedGpu {
 protected:
  explicit BetweenDevices(EmulatorOptions options = {}) : EmulatedGpu(std::move(options)) {}

  static Tensor Permuted(const Tensor& t) { return *t.Permute({2, 0, 1}); }
  // The even columns: no dense block.
  static Tensor Sparse(const Tensor& t) { return *t.Slice(2, {.step = 2}); }

  Tensor New(int index, std::vector<int64_t> shape = {5, 6, 8}) {
    return *Tensor::Empty(shape, kInt32, device(index));
  }
  int64_t Temporaries(int index) {
    return AllocatorOf(device(index)).Stats().allocations - allocations_[index];
  }
  // Starts to count calls and allocations.
  void Reset() {
    for (int i : {0, 1}) allocations_[i] = AllocatorOf(device(i)).Stats().allocations;
    gpu().ResetCounts();
  }

  const Tensor host = Counting({5, 6, 8});
  const std::vector<int32_t> permuted = Values(Permuted(host));

 private:
  int64_t allocations_[2] = {};
};

// ---- With access ----

TEST_F(BetweenDevices, AStridedCopyIsOneKernelOnTheGivenStream) {
  const Tensor x = OnDevice(host, 0), y = New(1);
  ASSERT_TRUE(CopyInto(Sparse(y), Sparse(x)).ok());
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    const Tensor z = New(1, {8, 5, 6});
    Reset();
    ASSERT_TRUE(CopyInto(Tensor(z), Permuted(x), {.stream = s}).ok());
    EXPECT_EQ(gpu().counts().launches, 1);
    EXPECT_EQ(gpu().counts().copies, 0);
    EXPECT_EQ(gpu().counts().stream_creates, 0);
    EXPECT_EQ(Temporaries(0) + Temporaries(1), 0);
    EXPECT_EQ(Values(z), permuted);
  }
}

TEST_F(BetweenDevices, AccessIsEnabledOnceAndBothWays) {
  const Tensor x = OnDevice(host, 0), y = OnDevice(host, 1);
  Reset();
  EXPECT_EQ(Values(*Copied(x, {.device = device(1)})), Values(host));
  EXPECT_EQ(gpu().counts().peer_calls, 6) << "asks, enables, and opens the pool, each both ways";
  Reset();
  EXPECT_EQ(Values(*Copied(y, {.device = device(0)})), Values(host));
  EXPECT_EQ(Values(*Copied(Permuted(y), {.device = device(0)})), permuted);
  EXPECT_EQ(gpu().counts().peer_calls, 0);
}

TEST_F(BetweenDevices, MemoryOfAllocatorsThatAreSelectedLaterIsReached) {
  const Tensor x = OnDevice(host, 0);
  EXPECT_EQ(Values(*Copied(Permuted(x), {.device = device(1)})), permuted);
  for (const char* name : {"async", "direct", "caching(async)", "caching(direct)"}) {
    for (int i : {0, 1}) {
      ASSERT_TRUE(backend().SelectAllocator(device(i), MemoryKind::kDevice, name).ok());
    }
    const Tensor from = OnDevice(host, 1), to = New(0, {8, 5, 6});
    Reset();
    ASSERT_TRUE(CopyInto(Tensor(to), Permuted(from)).ok());
    EXPECT_EQ(gpu().counts().launches, 1) << name;
    EXPECT_EQ(gpu().counts().copies, 0) << name;
    EXPECT_EQ(Values(to), permuted) << name;
  }
}

TEST_F(BetweenDevices, AccessThatAnotherLibraryEnabledIsNoError) {
  const auto& api = gpu().api();
  void* previous;
  ASSERT_EQ(api.push_device(api.self, 1, &previous), 0);
  ASSERT_EQ(api.peer_enable(api.self, 0), 0);
  api.pop_device(api.self, previous);
  const Tensor x = OnDevice(host, 0), y = New(1, {8, 5, 6});
  Reset();
  ASSERT_TRUE(CopyInto(Tensor(y), Permuted(x)).ok());
  EXPECT_EQ(gpu().counts().launches, 1);
  EXPECT_EQ(Values(y), permuted);
}

TEST_F(BetweenDevices, TheFirstUseOfAPairDoesNotBreakACapture) {
  const Tensor x = OnDevice(host, 0), y = New(1, {8, 5, 6});
  const Stream s = MakeStream(1);
  gpu().Finish();
  gpu().BeginCapture(s.native(), 1);
  ASSERT_TRUE(CopyInto(Tensor(y), Permuted(x), {.stream = s}).ok());
  ASSERT_TRUE(gpu().EndCapture(s.native(), 1));
  gpu().LaunchLastGraph(s.native(), 1);
  EXPECT_EQ(Values(y), permuted);
}

TEST_F(BetweenDevices, ManyThreadsUseAPairForTheFirstTime) {
  const Tensor x = OnDevice(host, 0);
  std::vector<std::thread> threads;
  std::vector<std::vector<int32_t>> seen(4);
  for (auto& values : seen) {
    threads.emplace_back([&] { values = Values(*Copied(Permuted(x), {.device = device(1)})); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& values : seen) EXPECT_EQ(values, permuted);
}

// Kernels that access it would fault.
TEST_F(BetweenDevices, MemoryOfAnotherLibrarysPoolIsNotAccessedFromAfar) {
  void* const lent = gpu().MallocApart(0, static_cast<size_t>(host.nbytes()));
  {
    const Tensor x = *Tensor::Make(
        Storage::Adopt(lent, static_cast<size_t>(host.nbytes()), device(0), Storage::Release{}), 0,
        kInt32, host.layout(), {});
    ASSERT_TRUE(CopyInto(Tensor(x), host).ok());
    for (const int at : {0, 1}) {
      const Stream s = MakeStream(at);
      const Tensor y = *Copied(Permuted(x), {.device = device(1), .stream = s});
      EXPECT_EQ(Values(y), permuted);
      ASSERT_TRUE(CopyInto(Permuted(x), y, {.stream = s}).ok());
      EXPECT_EQ(Values(x), Values(host));
    }
  }
  gpu().Free(lent);
}

// ---- Pairs without access ----

struct Refusal {
  const char* name;
  void (*refuse)(emulator::Emulator& gpu);
};
class WithoutAccess : public BetweenDevices, public testing::WithParamInterface<Refusal> {
 protected:
  WithoutAccess() { GetParam().refuse(gpu()); }
};
INSTANTIATE_TEST_SUITE_P(
    Reasons, WithoutAccess,
    testing::Values(Refusal{"CannotReach",
                            [](auto& gpu) { gpu.SetPeer(0, 1, false), gpu.SetPeer(1, 0, false); }},
                    Refusal{"CannotReachOneWay", [](auto& gpu) { gpu.SetPeer(1, 0, false); }},
                    Refusal{"TooManyPeers",
                            [](auto& gpu) {
                              gpu.FailPeer(0, 1, ResultClass::kOther),
                                  gpu.FailPeer(1, 0, ResultClass::kOther);
                            }},
                    Refusal{"ClosedPools",
                            [](auto& gpu) {
                              gpu.Fail(emulator::Function::kPoolAllowAccess,
                                       ResultClass::kNotSupported);
                            }},
                    Refusal{"NoAnswer",
                            [](auto& gpu) {
                              gpu.Fail(emulator::Function::kPeerCanAccess, ResultClass::kOther);
                            }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_P(WithoutAccess, CopiesArriveAndThePairIsNotTriedAgain) {
  const Tensor x = OnDevice(host, 0);
  EXPECT_EQ(Values(*Copied(x, {.device = device(1)})), Values(host));
  Reset();
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    const Tensor y = *Copied(Permuted(x), {.device = device(1), .stream = s});
    EXPECT_EQ(Values(y), permuted);
    const Tensor z = New(0);
    ASSERT_TRUE(CopyInto(Permuted(z), y, {.stream = s}).ok());
    EXPECT_EQ(Values(z), Values(host));
    const Tensor w = New(1), v = New(0);
    ASSERT_TRUE(Fill(Tensor(w), std::vector<int32_t>{-1}.data()).ok());
    ASSERT_TRUE(CopyInto(Sparse(w), Sparse(x), {.stream = s}).ok());
    EXPECT_EQ(Values(Sparse(w)), Values(Sparse(host)));
    EXPECT_EQ(Values(*w.Select(2, 1)), std::vector<int32_t>(30, -1));
    ASSERT_TRUE(CopyInto(Sparse(v), Sparse(w), {.stream = s}).ok());
    EXPECT_EQ(Values(Sparse(v)), Values(Sparse(host)));
  }
  EXPECT_EQ(gpu().counts().peer_calls, 0);
}

class Apart : public BetweenDevices {
 protected:
  Apart() : BetweenDevices({.has_peers = false}) {}

  // A copy on a stream of device `at` after one that made what lasts; expects as many passes.
  void ExpectPasses(const Tensor& to, const Tensor& from, int at, int launches, int near_blocks,
                    int far_blocks) {
    const Stream s = MakeStream(at);
    ASSERT_TRUE(CopyInto(Tensor(to), from, {.stream = s}).ok());
    gpu().Finish();
    Reset();
    ASSERT_TRUE(CopyInto(Tensor(to), from, {.stream = s}).ok());
    EXPECT_EQ(gpu().counts().copies, 1);
    EXPECT_EQ(gpu().counts().launches, launches);
    EXPECT_EQ(gpu().counts().stream_creates, 0);
    EXPECT_EQ(gpu().counts().host_waits, 0);
    EXPECT_EQ(Temporaries(at), near_blocks);
    EXPECT_EQ(Temporaries(1 - at), far_blocks);
    EXPECT_EQ(Values(to), Values(from));
  }
};

TEST_F(Apart, ADenseFarSideNeedsNoTemporaryThereAndNoOtherStream) {
  const Tensor x = OnDevice(host, 0), y = New(1);
  ExpectPasses(Sparse(y), *Sparse(x).Permute({0, 1, 2}), 0, 2, 1, 1);
  const Tensor z = New(1, {5, 6, 4});
  ExpectPasses(z, Sparse(x), 0, 1, 1, 0);  // packed here, sent into the destination
  ExpectPasses(Sparse(x), z, 0, 1, 1, 0);  // sent as it lies, unpacked here
  ExpectPasses(z, Sparse(x), 1, 1, 0, 1);  // packed there, sent into the destination
  ExpectPasses(Sparse(x), z, 1, 1, 0, 1);  // sent as it lies, unpacked there
}

TEST_F(Apart, ADenseBlockIsSentAsItLiesInAnyOrder) {
  const Tensor x = OnDevice(host, 0), y = New(1, {8, 5, 6});
  for (const int at : {0, 1}) {
    ExpectPasses(y, Permuted(x), at, 1, 1, 0);
    ExpectPasses(Permuted(x), y, at, 1, 1, 0);
  }
  const Tensor backwards = *x.Slice(2, {.step = -1});
  for (const int at : {0, 1}) ExpectPasses(New(1), backwards, at, 1, 1, 0);
}

TEST_F(Apart, WhatIsRepeatedIsSentOnce) {
  const Tensor row = OnDevice(Counting({1, 1, 8}), 0);
  const Tensor y = New(1, {100, 100, 8});
  const Stream s = MakeStream(1);
  ASSERT_TRUE(CopyInto(Tensor(y), row, {.stream = s}).ok());
  EXPECT_EQ(Values(*y.Select(0, 99)->Select(0, 3)), Values(*row.Select(0, 0)));
  EXPECT_LE(AllocatorOf(device(1)).Stats().peak_bytes, y.nbytes() + 1024);
}

TEST_F(Apart, ACaptureIsRefusedWithTheReasonAndLeftIntact) {
  const Tensor x = OnDevice(host, 0), y = New(1, {8, 5, 6});
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    gpu().Finish();
    gpu().BeginCapture(s.native(), at);
    EXPECT_THAT(CopyInto(Tensor(y), Permuted(x), {.stream = s}).message(),
                HasSubstr("captured into a graph"));
    EXPECT_TRUE(gpu().EndCapture(s.native(), at));
  }
}

TEST_F(Apart, MemoryThatIsFreedWithTheCopyPendingIsUsedAgainAfterIt) {
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    for (int i = 0; i < 4; ++i) {
      Tensor x = OnDevice(host, 0), y = New(1);
      ASSERT_TRUE(CopyInto(Sparse(y), Sparse(x), {.stream = s}).ok());
      x = OnDevice(host, 0);
      ASSERT_TRUE(CopyInto(Sparse(x), Sparse(y), {.stream = s}).ok());
      y = New(1);
      EXPECT_EQ(Values(Sparse(x)), Values(Sparse(host)));
    }
  }
}

// The host waits for what is under way on the other device before the memory is used again.
TEST_F(Apart, ACopyThatFailsInTheMiddleLeavesNoWorkOnTheOtherDevice) {
  const Tensor x = OnDevice(host, 0), y = New(1);
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    for (const auto function :
         {emulator::Function::kEventRecord, emulator::Function::kStreamWaitEvent}) {
      for (int successes = 0; successes < 8; ++successes) {
        gpu().Fail(function, ResultClass::kOther, successes);
        const absl::Status copied = CopyInto(Sparse(y), Sparse(x), {.stream = s});
        gpu().Fail(function, ResultClass::kOk);
        gpu().Finish();
        ASSERT_TRUE(AllocatorOf(device(0)).Trim(0).ok());
        ASSERT_TRUE(AllocatorOf(device(1)).Trim(0).ok());
        if (!copied.ok()) continue;
        EXPECT_EQ(Values(Sparse(y)), Values(Sparse(host)));
      }
    }
  }
}

// Whatever the failure is called.
TEST_F(Apart, ACopyThatFailsInTheMiddleStillUsesItsMemory) {
  const Stream allocates = MakeStream(0), copies = MakeStream(0);
  const Tensor y = New(1);
  for (const ResultClass result : {ResultClass::kOther, ResultClass::kNotSupported}) {
    for (int successes = 0; successes < 25; ++successes) {
      const StreamScope scope(allocates);
      Tensor x = OnDevice(host, 0);
      gpu().Fail(emulator::Function::kPushDevice, result, successes);
      (void)CopyInto(Tensor(y), *x.Slice(2, {.step = -1}), {.stream = copies});
      gpu().Fail(emulator::Function::kPushDevice, ResultClass::kOk);
      x = Tensor();
      (void)New(0);  // frees it in the order of `allocates`
      ASSERT_TRUE(backend().Synchronize(allocates).ok());
      gpu().Finish();
      ASSERT_THAT(gpu().TakeComplaints(), testing::IsEmpty()) << successes;
    }
  }
}

// ---- Both, at random ----

class AnyAccess : public BetweenDevices, public testing::WithParamInterface<std::pair<bool, bool>> {
 protected:
  AnyAccess()
      : BetweenDevices(
            {.seed = 5, .has_kernels = GetParam().second, .has_peers = GetParam().first}) {}
};
INSTANTIATE_TEST_SUITE_P(Ways, AnyAccess,
                         testing::Values(std::pair(true, true), std::pair(true, false),
                                         std::pair(false, true), std::pair(false, false)),
                         [](const auto& info) {
                           return std::string(info.param.first ? "Access" : "NoAccess") +
                                  (info.param.second ? "Kernels" : "RowByRow");
                         });

TEST_P(AnyAccess, RandomViewsArriveWhole) {
  std::mt19937 random(7);
  auto below = [&random](int64_t n) { return static_cast<int64_t>(random() % n); };
  const Stream streams[] = {MakeStream(0), MakeStream(1), Borrow(gpu().MakeStream(0), 0),
                            Borrow(gpu().MakeStream(1), 1)};
  for (int round = 0; round < 40; ++round) {
    const Tensor whole = Counting({2 + below(4), 2 + below(5), 2 + below(9)});
    const int64_t a = below(3), b = (a + 1 + below(2)) % 3, c = 3 - a - b;
    const int64_t steps[] = {below(3) == 0 ? -1 : 1, below(2) == 0 ? 2 : 1};
    auto view = [&](const Tensor& t) {
      return *t.Permute({a, b, c})->Index(
          {IndexItem::Range({.step = steps[0]}), IndexItem::Range({.step = steps[1]})});
    };
    const Tensor expected = *Copied(view(whole), {.device = Device::Cpu()});
    const Stream& s = streams[below(4)];
    const int from = static_cast<int>(below(2));
    const Tensor x = OnDevice(whole, from);
    const Tensor dense = *Copied(view(x), {.device = device(1 - from), .stream = s});
    EXPECT_EQ(Values(dense), Values(expected));
    const Tensor y = *Tensor::Empty(whole.shape(), kInt32, device(1 - from));
    ASSERT_TRUE(CopyInto(view(y), view(x), {.stream = s}).ok());
    EXPECT_EQ(Values(view(y)), Values(expected));
  }
}

TEST_P(AnyAccess, SubByteRowsThatShareBytesKeepTheirNeighbours) {
  const Tensor ones = *Tensor::Empty({3, 5}, kUInt4), sevens = *Tensor::Empty({3, 5}, kUInt4);
  std::memset(ones.raw_data(), 0x11, 8);
  std::memset(sevens.raw_data(), 0x77, 8);
  for (const int from : {0, 1}) {
    for (const int at : {0, 1}) {
      // Work is pending on both sides.
      const Stream s = MakeStream(at), other = MakeStream(1 - at);
      const Tensor x = *Copied(ones, {.device = device(from), .stream = from == at ? s : other});
      const Tensor y =
          *Copied(sevens, {.device = device(1 - from), .stream = from == at ? other : s});
      ASSERT_TRUE(CopyInto(*y.Slice(1, {.step = 2}), *x.Slice(1, {.stop = 3}), {.stream = s}).ok());
      const Tensor back = *Copied(y, {.device = Device::Cpu()});
      // Columns 0, 2 and 4 of each row of five: elements 0, 2, 4; 5, 7, 9; 10, 12, 14.
      const unsigned char expected[] = {0x71, 0x71, 0x11, 0x17, 0x17, 0x71, 0x71};
      EXPECT_EQ(std::memcmp(back.raw_data(), expected, 7), 0);
    }
  }
}

TEST_P(AnyAccess, SubByteRowsOfWholeBytesArrive) {
  const Tensor packed = *Tensor::Empty({4, 6}, kUInt4);
  for (int i = 0; i < 12; ++i) static_cast<unsigned char*>(packed.raw_data())[i] = i * 19;
  const Tensor expected = *Copied(*packed.Slice(0, {.step = 2}), {.device = Device::Cpu()});
  for (const int at : {0, 1}) {
    const Stream s = MakeStream(at);
    const Tensor x = *Copied(packed, {.device = device(0)});
    const Tensor y = *Copied(*x.Slice(0, {.step = 2}), {.device = device(1), .stream = s});
    const Tensor back = *Copied(y, {.device = Device::Cpu()});
    EXPECT_EQ(std::memcmp(back.raw_data(), expected.raw_data(), 6), 0);
  }
}

}  // namespace
}  // namespace dovetail
