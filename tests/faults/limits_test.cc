// Limits of the process, and signals that come all the time.

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/answers.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/core/testing/private_shared_memory.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int64_t kSide = 2000;  // copies of a square take several threads

class Limits : public testing::Test {
 protected:
  // 0, 1, 2, … in rows of kSide.
  static Tensor Square() {
    Tensor t = *Tensor::Empty({kSide, kSide}, kInt32);
    for (int64_t i = 0; i < kSide * kSide; ++i) static_cast<int32_t*>(t.raw_data())[i] = i;
    return t;
  }
  static bool IsTransposeOfSquare(const Tensor& t) {
    const auto* data = static_cast<const int32_t*>(t.raw_data());
    for (int64_t i = 0; i < kSide * kSide; ++i) {
      if (data[i] != i % kSide * kSide + i / kSide) return false;
    }
    return true;
  }

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
};

// The limit does not hold for root.
TEST_F(Limits, ACopyRunsWithFewerThreadsIfNoneCanBeStarted) {
  InChild([] {
    const ScopedNumThreads threads(4);
    ASSERT_TRUE(geteuid() != 0 || setuid(12345) == 0);
    const struct rlimit limit = {1, 1};
    ASSERT_EQ(setrlimit(RLIMIT_NPROC, &limit), 0);
    EXPECT_THROW(std::thread([] {}).join(), std::system_error);
    const absl::StatusOr<Tensor> copy = Copied(*Square().Permute({1, 0}));
    ASSERT_TRUE(copy.ok());
    EXPECT_TRUE(IsTransposeOfSquare(*copy));
  });
}

TEST_F(Limits, WithoutAddressSpaceATensorIsAnErrorAndLaterOnesAreNot) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need the address space";
#endif
  InChild([] {
    struct rlimit limit = {size_t{1} << 30, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
    for (const int64_t nbytes : {1 << 12, 1 << 20, 16 << 20}) {
      std::vector<Tensor> all;
      all.reserve(1 << 20);
      absl::StatusOr<Tensor> t = Tensor::Empty({nbytes}, kUInt8);
      for (; t.ok(); t = Tensor::Empty({nbytes}, kUInt8)) all.push_back(*std::move(t));
      limit.rlim_cur = RLIM_INFINITY;  // for what the test itself prints
      ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
      EXPECT_EQ(t.status().code(), absl::StatusCode::kResourceExhausted);
      EXPECT_GE(all.size(), 30u);
      limit.rlim_cur = size_t{1} << 30;
      ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
      all.clear();
      EXPECT_TRUE(Tensor::Empty({nbytes}, kUInt8).ok());
      EXPECT_TRUE(Registry::Global().host_allocator()->Trim(0).ok());
    }
  });
}

TEST_F(Limits, SignalsAtAnyTimeChangeNothing) {
  ChildProcess owner([](Channel& parent) {
    const Tensor t = *ipc::Empty({3}, kInt32);
    static_cast<int32_t*>(t.raw_data())[2] = 7;
    parent.Send(ipc::Share(t)->ToBytes());
    parent.Receive<char>();
  });
  const std::string shared = owner.Receive<std::string>();
  InChild([&] {
    static std::atomic<int> signals = 0;
    struct sigaction action = {};  // without SA_RESTART
    action.sa_handler = [](int) { ++signals; };
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    std::atomic<bool> stop = false;
    const pid_t me = getpid();
    std::thread sender([&] {
      while (!stop) {
        kill(me, SIGUSR1);
        usleep(500);
      }
    });
    const ScopedNumThreads threads(3);
    const Tensor square = Square();
    for (int round = 0; round < 10; ++round) {
      const Tensor in = *FromDLPack(*ToDLPack(square));
      EXPECT_TRUE(IsTransposeOfSquare(*Copied(*in.Permute({1, 0}))));
      for (int i = 0; i < 50; ++i) {
        const Tensor opened = *ipc::Open(*ipc::Handle::FromBytes(shared));
        EXPECT_EQ(static_cast<const int32_t*>(opened.raw_data())[2], 7);
        EXPECT_TRUE(ipc::CopyToShared(opened).ok());
      }
    }
    stop = true;
    sender.join();
    EXPECT_GE(signals, 20);
  });
  owner.Send('x');
  EXPECT_EQ(owner.Join(), 0);
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
