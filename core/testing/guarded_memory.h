// GuardedMemory: memory between two pages that can't be touched.
//
//   const GuardedMemory memory(1 << 20);
//   char* first = memory.At(/*end=*/false, 100);
//   memory.At(/*end=*/true, 100)[100] = 1;          // a SIGSEGV

#ifndef DOVETAIL_CORE_TESTING_GUARDED_MEMORY_H_
#define DOVETAIL_CORE_TESTING_GUARDED_MEMORY_H_

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

class GuardedMemory {
 public:
  // Zeros: `bytes`, rounded up to pages.
  explicit GuardedMemory(int64_t bytes) : page_(sysconf(_SC_PAGESIZE)) {
    size_ = (bytes + page_ - 1) / page_ * page_;
    void* all = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) std::abort();
    begin_ = static_cast<char*>(all) + page_;
    if (mprotect(begin_, size_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  ~GuardedMemory() { munmap(begin_ - page_, size_ + 2 * page_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  char* begin() const { return begin_; }
  int64_t size() const { return size_; }

  // `bytes` bytes right after the page in front, or right before the one behind.
  char* At(bool end, int64_t bytes) const { return end ? begin_ + size_ - bytes : begin_; }

 private:
  int64_t page_;
  int64_t size_;
  char* begin_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_TESTING_GUARDED_MEMORY_H_
