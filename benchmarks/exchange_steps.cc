// Runs the steps of an exchange for callgrind, with marks around a number of iterations of each.
// exchange_instructions.py runs this program; by hand:
//   valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file=out exchange_steps

#include <cstdint>
#include <cstdio>
#include <string>

#include "dovetail/benchmarks/callgrind_marks.h"
#include "dovetail/benchmarks/steps_dovetail.h"
#include "dovetail/benchmarks/steps_tvm_ffi.h"

namespace dovetail_benchmarks {
namespace {

// A stand-in for benchmark::State: `for (auto _ : iterations)` runs `count` iterations.
class Iterations {
 public:
  explicit Iterations(int64_t count) : count_(count) {}

  struct [[maybe_unused]] Turn {};
  class Iterator {
   public:
    explicit Iterator(int64_t left) : left_(left) {}
    Turn operator*() const { return {}; }
    void operator++() { --left_; }
    bool operator!=(const Iterator& end) const { return left_ != end.left_; }

   private:
    int64_t left_;
  };
  Iterator begin() const { return Iterator(count_); }
  Iterator end() const { return Iterator(0); }

 private:
  int64_t count_;
};

// Runs a warm-up that is not counted, and then two numbers of iterations. The difference of their
// counts excludes the set-up.
void Count(const std::string& name, void (*step)(Iterations&)) {
  for (int64_t count : {100, 1000, 3000}) {
    Iterations iterations(count);
    if (count == 100) {
      step(iterations);
      continue;
    }
    callgrind_marks::Begin();
    step(iterations);
    callgrind_marks::End((name + "/" + std::to_string(count)).c_str());
  }
}

}  // namespace
}  // namespace dovetail_benchmarks

int main() {
  namespace bench = dovetail_benchmarks;
  if (!bench::callgrind_marks::IsRunning()) {
    std::puts("Not under valgrind, or built without its header.");
    return 77;  // callgrind.py's UNMARKED
  }
#define COUNT_DOVETAIL(name, function) \
  bench::Count(#name "/dovetail", &bench::with_dovetail::function);
  DOVETAIL_STEPS(COUNT_DOVETAIL)
#define COUNT_TVM_FFI(name, function) \
  bench::Count(#name "/tvm_ffi", &bench::with_tvm_ffi::function);
  TVM_FFI_STEPS(COUNT_TVM_FFI)
}
