// Runs the stress test's operations on several threads.
//
//   Board board;
//   std::vector<std::unique_ptr<Steps>> steps;
//   steps.push_back(HostSteps(board));
//   RunStress(board, steps);
//
// The environment may set the number of operations (DOVETAIL_STRESS_OPERATIONS) and the seed
// (DOVETAIL_STRESS_SEED). Each thread makes the same choices for the same seed; how the threads
// meet differs from run to run.

#ifndef DOVETAIL_TESTS_STRESS_STRESS_H_
#define DOVETAIL_TESTS_STRESS_STRESS_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

#include "dovetail/tests/stress/steps.h"

namespace dovetail::stress {

inline int64_t Setting(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

inline void RunStress(Board& board, const std::vector<std::unique_ptr<Steps>>& steps) {
  constexpr int kThreads = 4;
  const int64_t operations = Setting("DOVETAIL_STRESS_OPERATIONS", 8000);
  const auto seed = static_cast<uint64_t>(Setting("DOVETAIL_STRESS_SEED", 1));
  std::cout << operations << " operations on " << kThreads << " threads, seed " << seed
            << std::endl;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(seed * kThreads + static_cast<uint64_t>(thread));
      const int64_t end = (thread + 1) * operations / kThreads;
      for (int64_t i = thread * operations / kThreads; i < end; ++i) {
        steps[random.Below(static_cast<int64_t>(steps.size()))]->Run(random);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : steps) each->Finish();
  board.Clear();
  for (const auto& each : steps) each->Check();
}

}  // namespace dovetail::stress

#endif  // DOVETAIL_TESTS_STRESS_STRESS_H_
