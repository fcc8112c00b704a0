// How fast are dense casts between float32 and the narrow floats, compared with a memcpy that reads
// and writes as many bytes? Measured in the L2 cache and in memory; in memory, also compared with a
// copy by streaming stores.
//
// A ratio is Dovetail's time divided by the other's. Goal: at most 1.25, which is 0.8 of the copy's
// speed. All use one thread, except the column threads_2: Dovetail's casts in memory on two
// threads.

#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/harness/machine.h"
#include "dovetail/copy.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/dovetail.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace {

using dovetail::DType;
using dovetail::Tensor;

struct Size {
  const char* name;
  int64_t elements;
};
constexpr Size kSizes[] = {{"in_cache", 128 * 1024}, {"in_memory", 32 * 1024 * 1024}};

// Small numbers of both signs, some of them subnormal in float8.
Tensor Numbers(int64_t count, DType dtype) {
  Tensor floats = *Tensor::Empty({count}, dovetail::kFloat32);
  float* values = *floats.data<float>();
  uint32_t state = 1;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    values[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-28f;
  }
  return *dovetail::Copied(floats, {.dtype = dtype});
}

void Cast(benchmark::State& state, DType from, DType to, int64_t count, int threads) {
  const Tensor src = Numbers(count, from);
  Tensor dst = Numbers(count, to);
  if (threads > 1) dovetail_benchmarks::UnpinThread();  // for the pool's threads
  if (!dovetail::SetNumThreads(threads).ok()) return state.SkipWithError("threads");
  for (auto _ : state) {
    if (!dovetail::CopyInto(dst, src).ok()) state.SkipWithError("no cast");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * (src.nbytes() + dst.nbytes()));
  dovetail_benchmarks::PinThread(0);
}

void StreamingCopy(char* to, const char* from, size_t nbytes) {
#if defined(__x86_64__)
  for (size_t i = 0; i + 16 <= nbytes; i += 16) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
  _mm_sfence();
#else
  std::memcpy(to, from, nbytes);
#endif
}

// Copies half of the bytes that the cast moves, because a copy both reads and writes each byte.
void CopyBytes(benchmark::State& state, int64_t moved, bool streaming) {
  const Tensor src = Numbers(moved / 8, dovetail::kFloat32);
  const Tensor dst = Numbers(moved / 8, dovetail::kFloat32);
  auto* to = static_cast<char*>(dst.raw_data());
  auto* from = static_cast<const char*>(src.raw_data());
  for (auto _ : state) {
    if (streaming) {
      StreamingCopy(to, from, src.nbytes());
    } else {
      std::memcpy(to, from, src.nbytes());
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * 2 * src.nbytes());
}

[[maybe_unused]] const bool registered = [] {
  dovetail::RegisterDefaultBackends();
  for (DType narrow :
       {dovetail::kBFloat16, dovetail::kFloat16, dovetail::kFloat8E4M3Fn, dovetail::kFloat8E5M2}) {
    for (bool narrowing : {true, false}) {
      const DType from = narrowing ? dovetail::kFloat32 : narrow;
      const DType to = narrowing ? narrow : dovetail::kFloat32;
      for (const Size& size : kSizes) {
        const std::string step =
            absl::StrCat(narrowing ? "to_" : "from_", narrow.ToString(), "_", size.name);
        const int64_t moved = size.elements * (from.itemsize() + to.itemsize());
        auto add = [&](const char* library, auto function) {
          benchmark::RegisterBenchmark(absl::StrCat(step, "/", library).c_str(), function)
              ->UseRealTime();
        };
        add("dovetail", [=, n = size.elements](auto& state) { Cast(state, from, to, n, 1); });
        if (&size != kSizes) {
          add("threads_2", [=, n = size.elements](auto& state) { Cast(state, from, to, n, 2); });
        }
        add("memcpy", [=](auto& state) { CopyBytes(state, moved, false); });
        add("streaming", [=](auto& state) { CopyBytes(state, moved, true); });
      }
    }
  }
  return true;
}();

}  // namespace
