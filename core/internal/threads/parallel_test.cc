#include "dovetail/core/internal/threads/parallel.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace dovetail {
namespace {

class ParallelForTest : public testing::Test {
 protected:
  ~ParallelForTest() override { EXPECT_TRUE(SetNumThreads(before_).ok()); }
  int before_ = GetNumThreads();
};

// Two bodies that wait for each other finish only if two threads run them. Then each calls `met`,
// one after the other.
template <typename Met>
void Meet(Met met) {
  std::mutex mutex;
  std::condition_variable arrived;
  int there = 0;
  ParallelFor(2, [&](int64_t) {
    std::unique_lock<std::mutex> lock(mutex);
    ++there;
    arrived.notify_all();
    arrived.wait(lock, [&] { return there == 2; });
    met();
  });
}
void Meet() {
  Meet([] {});
}

TEST(NumThreads, IsTheNumberOfProcessorsAtFirst) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_EQ(GetNumThreads(), CPU_COUNT(&set));
}

TEST_F(ParallelForTest, TheNumberIsTheOneThatWasSet) {
  ASSERT_TRUE(SetNumThreads(3).ok());
  EXPECT_EQ(GetNumThreads(), 3);
}

TEST_F(ParallelForTest, FewerThanOneThreadIsRefused) {
  ASSERT_TRUE(SetNumThreads(2).ok());
  for (int count : {0, -1}) {
    EXPECT_EQ(SetNumThreads(count).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(GetNumThreads(), 2);
}

TEST_F(ParallelForTest, MoreThreadsThanTheLimitAreRefusedWithTheLimit) {
  ASSERT_TRUE(SetNumThreads(kMostThreads).ok());
  for (int64_t count : {int64_t{kMostThreads} + 1, int64_t{1} << 40}) {
    const absl::Status status = SetNumThreads(count);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("from 1 to 4096"), std::string::npos) << status;
  }
  EXPECT_EQ(GetNumThreads(), kMostThreads);
}

TEST_F(ParallelForTest, EveryPartIsDoneOnce) {
  for (int threads : {1, 2, 5}) {
    ASSERT_TRUE(SetNumThreads(threads).ok());
    for (int64_t parts : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> done(parts);
      ParallelFor(parts, [&](int64_t part) { ++done[part]; });
      for (const auto& times : done) EXPECT_EQ(times, 1);
    }
  }
}

TEST_F(ParallelForTest, TwoPartsRunAtATime) {
  ASSERT_TRUE(SetNumThreads(2).ok());
  Meet();
}

TEST_F(ParallelForTest, NoMoreThreadsThanWereSetTakePart) {
  ASSERT_TRUE(SetNumThreads(4).ok());
  ParallelFor(100, [](int64_t) {});  // starts three helpers
  ASSERT_TRUE(SetNumThreads(2).ok());
  std::mutex mutex;
  std::set<std::thread::id> seen;
  ParallelFor(200, [&](int64_t) {
    std::this_thread::yield();
    std::lock_guard<std::mutex> lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_LE(seen.size(), 2u);
}

TEST_F(ParallelForTest, OneThreadDoesAllPartsInOrder) {
  ASSERT_TRUE(SetNumThreads(1).ok());
  std::vector<int64_t> order;
  ParallelFor(4, [&](int64_t part) { order.push_back(part); });
  EXPECT_EQ(order, (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST_F(ParallelForTest, NestedWorkIsDoneByTheCallingThread) {
  ASSERT_TRUE(SetNumThreads(2).ok());
  std::atomic<int> done{0};
  ParallelFor(4, [&](int64_t) {
    const auto self = std::this_thread::get_id();
    ParallelFor(4, [&](int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      ++done;
    });
  });
  EXPECT_EQ(done, 16);
}

TEST_F(ParallelForTest, ManyThreadsMayCallAtOnce) {
  ASSERT_TRUE(SetNumThreads(3).ok());
  std::atomic<int> done{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 4; ++i) {
    askers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) ParallelFor(5, [&](int64_t) { ++done; });
    });
  }
  for (std::thread& asker : askers) asker.join();
  EXPECT_EQ(done, 4 * 200 * 5);
}

// A program's handlers run on its own threads, except for faults of the instructions themselves.
TEST_F(ParallelForTest, ThePoolsThreadsHandleNoSignalsOfTheProgram) {
  ASSERT_TRUE(SetNumThreads(2).ok());
  const std::thread::id caller = std::this_thread::get_id();
  Meet([&] {
    sigset_t blocked;
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &blocked), 0);
    const bool is_helper = std::this_thread::get_id() != caller;
    for (const int program : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD}) {
      EXPECT_EQ(sigismember(&blocked, program), is_helper) << program;
    }
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGPROF}) {
      EXPECT_FALSE(sigismember(&blocked, fault)) << fault;
    }
  });
}

// ThreadSanitizer has a thread of its own and does not support fork() after threads have started.
#if !defined(__SANITIZE_THREAD__)

int CountThreads() {
  int count = 0;
  for (int tries = 0; tries < 100; ++tries) {  // an ended thread stays visible for a moment
    FILE* status = std::fopen("/proc/self/status", "r");
    char line[256];
    while (std::fgets(line, sizeof line, status) != nullptr) {
      std::sscanf(line, "Threads: %d", &count);
    }
    std::fclose(status);
    if (count == 1) break;
  }
  return count;
}

// Runs in a process of its own, because other tests start threads.
TEST(ParallelForDeathTest, NoThreadIsStartedBeforeItIsNeeded) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const int before = CountThreads();
        bool ok = SetNumThreads(4).ok() && GetNumThreads() == 4;
        ParallelFor(1, [](int64_t) {});
        ok = ok && CountThreads() == before;
        ParallelFor(4, [](int64_t) {});
        ok = ok && CountThreads() == before + 3;
        std::_Exit(ok ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

// It would leave the pool with work on a frame that is gone.
TEST(ParallelForDeathTest, AnExceptionOfABodyEndsTheProgram) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const auto try_to_throw = [](int64_t part) {
    try {
      ASSERT_TRUE(SetNumThreads(2).ok());
      ParallelFor(2, [&](int64_t i) {
        if (i == part) throw i;
      });
    } catch (int64_t) {
    }
  };
  EXPECT_DEATH(try_to_throw(0), "terminate");
  EXPECT_DEATH(try_to_throw(1), "terminate");
}

TEST_F(ParallelForTest, AChildProcessStartsThreadsOfItsOwn) {
  ASSERT_TRUE(SetNumThreads(2).ok());
  Meet();
  for (int round = 0; round < 3; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);  // a child that hangs is killed, and the test fails
      Meet();
      std::_Exit(7);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  }
  Meet();
}

// Forks while the pool is working and its locks may be held.
TEST_F(ParallelForTest, AForkDuringWorkLeavesAWorkingChild) {
  ASSERT_TRUE(SetNumThreads(3).ok());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) ParallelFor(50, [](int64_t) {});
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      Meet();
      std::_Exit(7);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  }
  stop = true;
  busy.join();
}

#endif  // !__SANITIZE_THREAD__

}  // namespace
}  // namespace dovetail
