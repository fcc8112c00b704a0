// What does a dense copy of a transposed matrix cost, compared with a loop of my own?

#include <cstdint>
#include <vector>

#include "benchmark/benchmark.h"
#include "dovetail/copy.h"
#include "dovetail/dovetail.h"

namespace {

constexpr int64_t kRows = 300, kColumns = 200;

void Dovetail(benchmark::State& state) {
  dovetail::RegisterDefaultBackends();
  dovetail::Tensor matrix = *dovetail::Tensor::Empty({kRows, kColumns}, dovetail::kFloat32);
  dovetail::Tensor transposed = *matrix.Transpose(0, 1);
  dovetail::Tensor copy = *dovetail::Tensor::Empty({kColumns, kRows}, dovetail::kFloat32);
  for (auto _ : state) {
    if (!dovetail::CopyInto(copy, transposed).ok()) state.SkipWithError("no copy");
    benchmark::ClobberMemory();
  }
}
BENCHMARK(Dovetail)->Name("transpose/dovetail");

void MyLoop(benchmark::State& state) {
  std::vector<float> matrix(kRows * kColumns), copy(kRows * kColumns);
  for (auto _ : state) {
    for (int64_t i = 0; i < kRows; ++i) {
      for (int64_t j = 0; j < kColumns; ++j) copy[j * kRows + i] = matrix[i * kColumns + j];
    }
    benchmark::ClobberMemory();
  }
}
BENCHMARK(MyLoop)->Name("transpose/my_loop");

}  // namespace
