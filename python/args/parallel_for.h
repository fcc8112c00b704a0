// ParallelFor: a loop on several threads.
//
//   dovetail::ParallelFor(rows, /*grain=*/16, [&](int64_t begin, int64_t end) {
//     for (int64_t i = begin; i < end; ++i) ...
//   });
//
// The threads are those of the installed `dovetail` package, at most dovetail.get_num_threads() of
// them, and shared with its copies. Without the package this thread does all. C++17.

#ifndef DOVETAIL_PYTHON_ARGS_PARALLEL_FOR_H_
#define DOVETAIL_PYTHON_ARGS_PARALLEL_FOR_H_

#include <atomic>
#include <cstdint>
#include <exception>

#include "dovetail/python/args/sizes.h"
#ifdef DOVETAIL_WITHOUT_PYTHON
#include "dovetail/python/kernels/host.h"
#else
#include "dovetail/python/capi.h"
#endif

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

// A body, and the first exception that it threw.
template <typename F>
class ParallelBody {
 public:
  explicit ParallelBody(F& body) : body_(body) {}

  static void Run(void* self, int64_t begin, int64_t end) {
    static_cast<ParallelBody*>(self)->Run(begin, end);
  }
  void Rethrow() {
#ifdef __cpp_exceptions
    if (error_) std::rethrow_exception(error_);
#endif
  }

 private:
  void Run(int64_t begin, int64_t end) {
#ifdef __cpp_exceptions
    if (has_error_.load(std::memory_order_relaxed)) return;
    try {
      body_(begin, end);
    } catch (...) {
      if (!has_error_.exchange(true)) error_ = std::current_exception();
    }
#else
    body_(begin, end);
#endif
  }

  F& body_;
  std::atomic<bool> has_error_{false};
  std::exception_ptr error_;
};

}  // namespace internal_arg

// Calls body(begin, end) for parts of 0 … count, of about `grain` iterations or more, in any order,
// on several threads including this one; with some parts for each thread, so that a slow part keeps
// no other waiting. Returns when all are done. While several threads work,
// this one does not hold the GIL, and `body` must not use Python. The first exception of a body is
// rethrown here; parts that have not begun are left out then. From within a body, and while the
// threads work for someone else, this thread does all parts.
template <typename F>
void ParallelFor(int64_t count, int64_t grain, F&& body) {
  internal_arg::ParallelBody parallel(body);
#ifdef DOVETAIL_WITHOUT_PYTHON
  internal_kernels::ParallelFor(count, grain, &decltype(parallel)::Run, &parallel);
#else
  Dovetail_ParallelFor(count, grain, &decltype(parallel)::Run, &parallel);
#endif
  parallel.Rethrow();
}

}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_ARGS_PARALLEL_FOR_H_
