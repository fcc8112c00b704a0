// Forks, ends of threads and exits, while other threads exchange, copy and share.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/address_sanitizer.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/testing/answers.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/dlpack/export.h"
#include "dovetail/interop/dlpack/import.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// Everything a process does with Dovetail, in threads and in caches of every kind.
bool UseAll() {
  const absl::StatusOr<Tensor> large = Tensor::Empty({1500, 1500}, kInt32);  // several threads
  const absl::StatusOr<Tensor> small = Tensor::Empty({4}, kInt32);
  const absl::StatusOr<Tensor> shared = ipc::Empty({4}, kInt32);
  if (!large.ok() || !small.ok() || !shared.ok()) return false;
  for (int i = 0; i < 4; ++i) {
    static_cast<int32_t*>(small->raw_data())[i] = 10 + i;
    static_cast<int32_t*>(large->raw_data())[i] = i;
  }
  if (!CopyInto(Tensor(*shared), *small).ok()) return false;
  const absl::StatusOr<Tensor> copy = Copied(*large->Permute({1, 0}));
  const absl::StatusOr<Tensor> again = FromDLPack(*ToDLPack(*small));
  // (An exiting process releases its shared memory while threads still work.)
  const auto handle = ipc::Share(*shared);
  if (!handle.ok()) return false;
  const absl::StatusOr<Tensor> opened = ipc::Open(*handle);
  return copy.ok() && again.ok() && opened.ok() &&
         static_cast<int32_t*>(copy->raw_data())[1500 * 3] == 3 &&
         static_cast<int32_t*>(again->raw_data())[3] == 13 &&
         static_cast<int32_t*>(opened->raw_data())[3] == 13;
}

class Processes : public testing::Test {
 protected:
  // Forks; `body` is the child's, which is killed after 30 s. Returns the status of waitpid.
  template <typename Body>
  static int Fork(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      body();
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  ScopedNumThreads threads_{3};

 private:
  ScopedBackendOverride cpu_{MakeCpuBackend()};
};

// ThreadSanitizer does not support fork() after threads have started.
#if !defined(__SANITIZE_THREAD__)

TEST_F(Processes, AChildForkedWhileThreadsWorkCanDoAllAndExits) {
  // Seen in g++ 12's: the child waits for a lock of the allocator that a thread of its parent held.
  if (kAddressSanitizer) GTEST_SKIP() << "AddressSanitizer's allocator does not survive it";
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop) EXPECT_TRUE(UseAll());
    });
  }
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(Fork([] { std::exit(UseAll() ? 0 : 1); }), 0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Processes, AProcessExitsWhileItsThreadsWork) {
  if (kAddressSanitizer) GTEST_SKIP() << "LeakSanitizer takes for leaks what the threads hold";
  for (int round = 0; round < 20; ++round) {
    const int status = Fork([round] {
      for (int i = 0; i < 3; ++i) {
        std::thread([] {
          while (true) UseAll();
        }).detach();
      }
      usleep(1000 * (round % 5));
      std::exit(0);
    });
    EXPECT_EQ(status, 0);
  }
}

#endif

// Tensors that a thread made outlive it and its caches, and are released on other threads.
TEST_F(Processes, WhatThreadsThatHaveEndedMadeIsReleasedOnOthers) {
  const auto allocated = [] {
    return Registry::Global().host_allocator()->Stats().allocated_bytes;
  };
  const int64_t before = allocated();
  std::vector<Tensor> kept;
  std::vector<UniqueDLPack> lent;
  for (int i = 0; i < 50; ++i) {
    std::thread([&] {
      EXPECT_TRUE(UseAll());
      for (const int64_t size : {1, 1000, 1 << 21}) {
        kept.push_back(*Tensor::Empty({size}, kInt32));
        lent.push_back(*ToDLPack(kept.back()));
      }
    }).join();
  }
  std::thread([&] { kept.erase(kept.begin(), kept.begin() + 75); }).join();
  kept.clear();
  EXPECT_GT(allocated(), before);
  lent.clear();
  EXPECT_EQ(allocated(), before);
}

}  // namespace
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
