// What does allocating and freeing CPU memory cost, compared with malloc and with aligned_alloc at
// Dovetail's alignment?
//
// Rows: `allocate` is the backend's allocator alone. `empty` makes and drops a whole tensor; the
// peers allocate its memory alone. `live` frees several blocks in another order. `touched` writes a
// byte to each page. Rows with two threads run last: in a single-threaded process, malloc takes no
// lock and references are counted without atomics.
//
// Goal: at most 1.0 times malloc and free up to 4 KiB.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/ratio_report.h"
#include "dovetail/core/device_backend.h"
#include "dovetail/core/registry.h"
#include "dovetail/dovetail.h"

namespace {

using benchmark::State;
using dovetail::Allocator;
using dovetail::Device;
using dovetail::Stream;

struct Size {
  const char* name;
  size_t bytes;
  bool on_two_threads;
};
constexpr Size kSizes[] = {
    {"16B", 16, true},         {"256B", 256, false},       {"1KiB", 1 << 10, false},
    {"4KiB", 4 << 10, true},   {"64KiB", 64 << 10, true},  {"1MiB", 1 << 20, true},
    {"16MiB", 16 << 20, true}, {"64MiB", 64 << 20, false}, {"256MiB", 256 << 20, false}};
constexpr Size kTouched[] = {{"1MiB", 1 << 20, true},
                             {"16MiB", 16 << 20, true},
                             {"64MiB", 64 << 20, false},
                             {"256MiB", 256 << 20, false}};

// A source of memory: Take allocates (DoNotOptimize keeps the compiler from removing it), Give
// frees.
class FromDovetail {
 public:
  void* Take(size_t nbytes) { return *allocator_->Allocate(nbytes, stream_); }
  void Give(void* data, size_t nbytes) { allocator_->Deallocate(data, nbytes, nullptr); }

 private:
  Allocator* const allocator_ = *(*dovetail::BackendFor(Device::Cpu()))
                                     ->GetAllocator(Device::Cpu(), dovetail::MemoryKind::kDevice);
  const Stream stream_ = Stream::Default(Device::Cpu());
};

struct FromMalloc {
  static void* Take(size_t nbytes) { return std::malloc(nbytes); }
  static void Give(void* data, size_t) { std::free(data); }
};

struct FromAlignedAlloc {
  static void* Take(size_t nbytes) {
    constexpr size_t kAlignment = dovetail::kAllocationAlignment;
    return std::aligned_alloc(kAlignment, (nbytes + kAlignment - 1) / kAlignment * kAlignment);
  }
  static void Give(void* data, size_t) { std::free(data); }
};

template <typename From>
void Allocate(State& state, size_t nbytes) {
  From from;
  for (auto _ : state) {
    void* data = from.Take(nbytes);
    benchmark::DoNotOptimize(data);
    from.Give(data, nbytes);
  }
}

void Empty(State& state, size_t nbytes) {
  const auto count = static_cast<int64_t>(nbytes);
  for (auto _ : state) {
    auto tensor = dovetail::Tensor::Empty({count}, dovetail::kUInt8);
    benchmark::DoNotOptimize(tensor);
  }
}

template <typename From>
void Touch(State& state, size_t nbytes) {
  constexpr size_t kPage = 4096;
  From from;
  for (auto _ : state) {
    auto* data = static_cast<char*>(from.Take(nbytes));
    for (size_t i = 0; i < nbytes; i += kPage) data[i] = 1;
    benchmark::ClobberMemory();
    from.Give(data, nbytes);
  }
}

// Takes blocks of these sizes in turn, then gives all back in another order: every seventh,
// cyclically.
template <typename From, size_t kBlocks, size_t... kBytes>
void Live(State& state) {
  constexpr std::array<size_t, sizeof...(kBytes)> kTurns = {kBytes...};
  static_assert(kBlocks % 7 != 0);
  From from;
  std::array<void*, kBlocks> blocks;
  for (auto _ : state) {
    for (size_t i = 0; i < kBlocks; ++i) {
      void* data = from.Take(kTurns[i % kTurns.size()]);
      benchmark::DoNotOptimize(data);
      blocks[i] = data;
    }
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t block = i * 7 % kBlocks;
      from.Give(blocks[block], kTurns[block % kTurns.size()]);
    }
  }
}

template <typename From>
constexpr auto kMixed = &Live<From, 16, 16, 100, 256, 600, 1024, 2000, 4096>;
// More blocks of one size than a thread's cache holds.
template <typename From>
constexpr auto kMany = &Live<From, 64, 4096>;

// Registers `run(state, arguments…)` for each source of memory.
template <typename Dovetail, typename Malloc, typename Aligned, typename... Arguments>
void Add(const std::string& step, int threads, Dovetail dovetail, Malloc malloc, Aligned aligned,
         Arguments... arguments) {
  auto add = [&](const char* library, auto run) {
    auto pinned = [=](State& state) {
      dovetail_benchmarks::PinThread(state.thread_index());
      run(state, arguments...);
    };
    benchmark::RegisterBenchmark(absl::StrCat(step, "/", library).c_str(), pinned)
        ->Threads(threads);
  };
  add("dovetail", dovetail);
  add("malloc", malloc);
  add("aligned_alloc", aligned);
}

void Register(int threads) {
  const std::string suffix = threads == 1 ? "" : absl::StrCat("_", threads, "_threads");
  auto name = [&](const char* what, const char* size) {
    return absl::StrCat(what, "_", size, suffix);
  };
  for (const Size& size : kSizes) {
    if (threads > 1 && !size.on_two_threads) continue;
    Add(name("allocate", size.name), threads, &Allocate<FromDovetail>, &Allocate<FromMalloc>,
        &Allocate<FromAlignedAlloc>, size.bytes);
    Add(name("empty", size.name), threads, &Empty, &Allocate<FromMalloc>,
        &Allocate<FromAlignedAlloc>, size.bytes);
  }
  for (const Size& size : kTouched) {
    if (threads > 1 && !size.on_two_threads) continue;
    Add(name("touched", size.name), threads, &Touch<FromDovetail>, &Touch<FromMalloc>,
        &Touch<FromAlignedAlloc>, size.bytes);
  }
  Add(name("live", "16_to_4KiB"), threads, kMixed<FromDovetail>, kMixed<FromMalloc>,
      kMixed<FromAlignedAlloc>);
  Add(name("live", "64_of_4KiB"), threads, kMany<FromDovetail>, kMany<FromMalloc>,
      kMany<FromAlignedAlloc>);
}

}  // namespace

int main(int argc, char** argv) {
  dovetail::RegisterDefaultBackends();
  Register(1);
  return dovetail_benchmarks::RunBenchmarks(argc, argv, [] { Register(2); });
}
