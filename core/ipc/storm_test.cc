// Processes that make, share, open, check and free memory, and that are killed at any time. Nothing
// that a living process holds is changed by others, and at the end everything is free.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/core/ipc/segments_for_tests.h"
#include "dovetail/core/ipc/slot_pool.h"
#include "dovetail/core/testing/child_process.h"
#include "dovetail/core/testing/private_shared_memory.h"
#include "gtest/gtest.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr int kProcesses = 4, kOffers = 32;
constexpr size_t kPoolBytes = size_t{4} << 20;

using Random = std::mt19937_64;

struct Offer {
  SlotName name;
  uint64_t nbytes;
  uint64_t key;
};

// What all processes see. An offer may be torn, as its writer can be killed: the number in front
// and behind differ then.
struct Board {
  struct Entry {
    std::atomic<uint64_t> before, behind;
    Offer offer;
  };
  std::array<Entry, kOffers> entries;
  std::atomic<uint64_t> next_key, opened, stale, made, forked;
  std::atomic<uint32_t> faults;
};

void Put(Board& board, Random& random, const Offer& offer) {
  Board::Entry& entry = board.entries[random() % kOffers];
  const uint64_t number = ++board.next_key;
  entry.before = number;
  entry.offer = offer;
  entry.behind = number;
}
bool Look(Board& board, Random& random, Offer& offer) {
  Board::Entry& entry = board.entries[random() % kOffers];
  const uint64_t behind = entry.behind;
  offer = entry.offer;
  return behind != 0 && entry.before == behind;
}

struct Held {
  SlotHold slot;
  uint64_t nbytes;
  uint64_t key;
};

class Worker {
 public:
  Worker(Board& board, SlotPool& pool, uint64_t seed) : board_(board), pool_(pool), random_(seed) {}

  void Step() {
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return Make();
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return Open();
      case 10:
        if (random_() % 20 == 0) return Fork();
        if (random_() % 10 == 0) (void)pool_.Reclaim().ok();
        return;
      default:
        return Drop();
    }
  }
  void CheckAll() {
    for (const Held& held : held_) Check(held);
  }

 private:
  void Require(bool is_right) {
    if (!is_right) ++board_.faults;
  }
  void Check(const Held& held) { Require(IsFilledWith(held.slot, held.nbytes, held.key)); }

  void Make() {
    const size_t nbytes = 8 + random_() % (random_() % 8 == 0 ? kPoolBytes / 6 : 3 * kGranuleBytes);
    absl::StatusOr<SlotHold> slot =
        pool_.Allocate(nbytes, {.isolated = !pool_.is_anonymous() && random_() % 30 == 0});
    if (!slot.ok()) {
      Require(absl::IsResourceExhausted(slot.status()));
      held_.clear();
      return;
    }
    const uint64_t key = ++board_.next_key;
    FillWith(*slot, nbytes, key);
    ++board_.made;
    Put(board_, random_, {slot->name(), nbytes, key});
    held_.push_back({*std::move(slot), nbytes, key});
  }

  void Open() {
    Offer offer;
    if (!Look(board_, random_, offer)) return;
    offer.name.read_only = random_() % 4 == 0;
    absl::StatusOr<SlotHold> slot = SlotHold::Open(offer.name);
    if (!slot.ok()) {
      ++board_.stale;
      Require(absl::IsFailedPrecondition(slot.status()));
      return;
    }
    ++board_.opened;
    held_.push_back({*std::move(slot), offer.nbytes, offer.key});
    Check(held_.back());
  }

  void Drop() {
    if (held_.empty()) return;
    const size_t i = random_() % held_.size();
    Check(held_[i]);
    std::swap(held_[i], held_.back());
    held_.pop_back();
  }

  // A child that works on with what it holds, and ends in the middle.
  void Fork() {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      random_.seed(static_cast<uint64_t>(getpid()));
      ++board_.forked;
      CheckAll();
      for (int i = 0; i < 50; ++i) Step();
      CheckAll();
      UnlinkMySegments();
      kill(getpid(), SIGKILL);
    }
    children_.push_back(child);
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
  }

  Board& board_;
  SlotPool& pool_;
  Random random_;
  std::vector<Held> held_;
  std::vector<pid_t> children_;
};

void Storm(bool is_anonymous) {
  constexpr int kKills = 15;
  InPrivateSharedMemory("size=64m", [&] {
    auto* board = static_cast<Board*>(
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(board, MAP_FAILED);
    const std::shared_ptr<SlotPool> pool =
        *SlotPool::Create({.nbytes = kPoolBytes,
                           .most_bytes = is_anonymous ? kPoolBytes : 2 * kPoolBytes,
                           .anonymous = is_anonymous});
    // What this process has stays as it is.
    const SlotHold mine = *pool->Allocate(5 * kGranuleBytes);
    FillWith(mine, mine.nbytes(), 1);
    Random random(is_anonymous ? 1 : 2);
    std::vector<pid_t> workers;
    const auto start = [&] {
      const uint64_t seed = random();
      const pid_t worker = fork();
      if (worker == 0) {
        alarm(30);
        Worker work(*board, *pool, seed);
        while (true) work.Step();
      }
      workers.push_back(worker);
    };
    for (int i = 0; i < kProcesses; ++i) start();
    Worker own(*board, *pool, random());
    for (int killed = 0; killed < kKills; ++killed) {
      for (uint64_t i = random() % 300; i > 0; --i) own.Step();
      const size_t victim = random() % workers.size();
      kill(workers[victim], SIGKILL);
      int status = 0;
      waitpid(workers[victim], &status, 0);
      ASSERT_TRUE(WIFSIGNALED(status));
      ASSERT_EQ(WTERMSIG(status), SIGKILL);
      workers.erase(workers.begin() + static_cast<ptrdiff_t>(victim));
      start();
    }
    own.CheckAll();
    for (const pid_t worker : workers) kill(worker, SIGKILL);
    for (const pid_t worker : workers) waitpid(worker, nullptr, 0);
    {
      Worker ended = std::move(own);
    }
    // (Their children end by themselves.)
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    for (int i = 0; i < 20'000 && pool->Stats()->used_slots != 1; ++i) usleep(1000);
    EXPECT_EQ(pool->Stats()->used_slots, 1u);
    EXPECT_TRUE(IsFilledWith(mine, mine.nbytes(), 1));
    EXPECT_EQ(board->faults, 0u);
    EXPECT_GT(board->made, 0u);
    EXPECT_GT(board->opened, 0u);
    std::printf("made %llu, opened %llu, stale %llu, forked %llu\n",
                static_cast<unsigned long long>(board->made),
                static_cast<unsigned long long>(board->opened),
                static_cast<unsigned long long>(board->stale),
                static_cast<unsigned long long>(board->forked));
    // All of it can be had.
    const SlotHold rest = *pool->Allocate(kPoolBytes / 2);
    FillWith(rest, rest.nbytes(), 2);
    UnlinkLeftBehind();
    const size_t files = static_cast<size_t>(is_anonymous ? 0 : pool->segment_count());
    // This process's token is made with its first file, which may be an isolated slot's.
    EXPECT_LE(SharedMemoryFiles().size(), files + 1);
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  });
}

TEST(Storm, APoolInTheFolderWithstandsKilledProcesses) { Storm(/*is_anonymous=*/false); }
TEST(Storm, AnAnonymousPoolWithstandsKilledProcesses) { Storm(/*is_anonymous=*/true); }

}  // namespace
}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
