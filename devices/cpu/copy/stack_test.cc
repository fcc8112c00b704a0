// Copies on threads with little stack, as runtimes of coroutines and some of musl's threads have.

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "gtest/gtest.h"

namespace dovetail {
namespace {

using cpu::CopyCase;
using cpu::CopyKernel;

struct Work {
  CopyCase copy;
  const cpu::Way* way;
  char* dst;
  const char* src;
};

void* Run(void* argument) {
  const Work& work = *static_cast<const Work*>(argument);
  Execute(work.copy.Plan(), work.dst, work.src,
          {.kernels = &work.way->kernels, .stream_from = work.way->stream_from});
  return nullptr;
}

// The bytes of stack that the copy takes, with those of the thread itself.
int64_t StackOf(Work work) {
  constexpr int64_t kBytes = 1 << 20;
  constexpr unsigned char kUntouched = 0x5c;
  static std::vector<unsigned char> memory(kBytes + 4096);
  std::fill(memory.begin(), memory.end(), kUntouched);
  void* start = memory.data();
  size_t room = memory.size();
  EXPECT_NE(std::align(4096, kBytes, start, room), nullptr);
  pthread_attr_t attributes;
  EXPECT_EQ(pthread_attr_init(&attributes), 0);
  EXPECT_EQ(pthread_attr_setstack(&attributes, start, kBytes), 0);
  pthread_t thread;
  EXPECT_EQ(pthread_create(&thread, &attributes, &Run, &work), 0);
  EXPECT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
  const auto* const low = static_cast<const unsigned char*>(start);
  const auto touched = [](unsigned char c) { return c != kUntouched; };
  return low + kBytes - std::find_if(low, low + kBytes, touched);
}

std::vector<CopyCase> Cases() {
  cpu::Random random(7);
  std::vector<CopyCase> cases;
  for (const CopyKernel kernel : cpu::kAllCopyKernels) {
    for (int i = 0; i < 10; ++i) cases.push_back(CaseFor(kernel, &random));
  }
  for (int i = 0; i < 15; ++i) {
    cases.push_back(cpu::ContinuedCase(&random));
    cases.push_back(cpu::ShortRunsCase(&random));
    cases.push_back(cpu::MisalignedCase(&random));
    cases.push_back(cpu::CollidingCase(&random));
    cases.push_back(cpu::SquaresCase(&random));
    cases.push_back(cpu::RandomCase(&random));
  }
  return cases;
}

TEST(Stack, ACopyTakesLessThan48Kilobytes) {
  for (const CopyCase& copy : Cases()) {
    const cpu::Reach to = copy.DstReach(), from = copy.SrcReach();
    std::vector<char> dst(to.bytes), expected(to.bytes), src(from.bytes);
    for (size_t i = 0; i < src.size(); ++i) src[i] = static_cast<char>(i * 31 / 7);
    copy.Naive(expected.data() + to.first, src.data() + from.first);
    for (const cpu::Way& way : cpu::AllWays()) {
      std::fill(dst.begin(), dst.end(), 0);
      const int64_t bytes = StackOf({copy, &way, dst.data() + to.first, src.data() + from.first});
      EXPECT_LT(bytes, 48 << 10) << copy.ToString() << " " << way.name;
      ASSERT_EQ(dst, expected) << copy.ToString() << " " << way.name;
    }
  }
}

}  // namespace
}  // namespace dovetail
