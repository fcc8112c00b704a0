#include "benchmarks/harness/machine.h"

#include <sched.h>

#include <thread>

#include "gtest/gtest.h"

namespace dovetail_benchmarks {
namespace {

cpu_set_t Now() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

TEST(MachineTest, APinnedThreadHasOneProcessorUntilItIsUnpinned) {
  const cpu_set_t before = Now();
  PinThread(0);
  const cpu_set_t pinned = Now();
  EXPECT_EQ(CPU_COUNT(&pinned), 1);
  UnpinThread();
  const cpu_set_t after = Now();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(MachineTest, ThreadsOfAPinnedThreadHaveProcessorsOfTheirOwn) {
  PinThread(0);
  const cpu_set_t first = Now();
  cpu_set_t second;
  std::thread([&] {
    PinThread(1);
    second = Now();
  }).join();
  EXPECT_EQ(CPU_COUNT(&second), 1);
  EXPECT_EQ(CPU_EQUAL(&first, &second), UsableProcessors() == 1);
  UnpinThread();
}

TEST(MachineTest, ThereMayBeMoreThreadsThanProcessors) {
  PinThread(0);
  const cpu_set_t first = Now();
  PinThread(UsableProcessors());
  const cpu_set_t again = Now();
  EXPECT_TRUE(CPU_EQUAL(&first, &again));
  UnpinThread();
}

}  // namespace
}  // namespace dovetail_benchmarks
