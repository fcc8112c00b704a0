#include "dovetail/tests/emulator/device_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {
namespace {

constexpr size_t kAlignment = 256;

size_t RoundUp(size_t nbytes) {
  return nbytes == 0 ? kAlignment : (nbytes + kAlignment - 1) / kAlignment * kAlignment;
}

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::abort();
}

}  // namespace

DeviceMemory::DeviceMemory(size_t capacity)
    : file_(memfd_create("emulated GPU", MFD_CLOEXEC)), capacity_(capacity), free_bytes_(capacity) {
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(capacity)) != 0) Fail("memfd_create");
  Map(0);
  free_[0] = capacity;
}

DeviceMemory::DeviceMemory(int file, size_t offset, size_t capacity)
    : file_(file), capacity_(capacity), free_bytes_(0) {
  Map(offset);
}

void DeviceMemory::Map(size_t offset) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = offset % page;
  const auto from = static_cast<off_t>(offset - before);
  const size_t size = capacity_ + before;
  void* seen = mmap(nullptr, size, PROT_NONE, MAP_SHARED, file_, from);
  void* worked = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_, from);
  if (seen == MAP_FAILED || worked == MAP_FAILED) Fail("mmap");
  seen_ = static_cast<char*>(seen) + before;
  worked_ = static_cast<char*>(worked) + before;
}

DeviceMemory::~DeviceMemory() {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t before = reinterpret_cast<uintptr_t>(seen_) % page;
  munmap(seen_ - before, capacity_ + before);
  munmap(worked_ - before, capacity_ + before);
  close(file_);
}

void* DeviceMemory::Reserve(size_t nbytes) {
  if (nbytes > capacity_) return nullptr;
  const size_t size = RoundUp(nbytes);
  auto found = free_.end();
  // The range with the last freed memory first, so that memory is reused as soon as possible.
  if (last_freed_ != SIZE_MAX) {
    found = free_.upper_bound(last_freed_);
    if (found != free_.begin()) --found;
    const bool fits = found != free_.end() && found->first <= last_freed_ &&
                      last_freed_ + size <= found->first + found->second;
    if (!fits) found = free_.end();
  }
  size_t offset = last_freed_;
  if (found == free_.end()) {
    for (found = free_.begin(); found != free_.end() && found->second < size; ++found) {
    }
    if (found == free_.end()) return nullptr;
    offset = found->first;
  }
  const auto [begin, length] = *found;
  free_.erase(found);
  if (offset > begin) free_[begin] = offset - begin;
  if (offset + size < begin + length) free_[offset + size] = begin + length - (offset + size);
  last_freed_ = SIZE_MAX;
  free_bytes_ -= size;
  return seen_ + offset;
}

void DeviceMemory::Release(void* data, size_t nbytes) {
  const size_t size = RoundUp(nbytes);
  const size_t offset = OffsetOf(data);
  auto entry = free_.emplace(offset, size).first;
  if (const auto next = std::next(entry);
      next != free_.end() && entry->first + entry->second == next->first) {
    entry->second += next->second;
    free_.erase(next);
  }
  if (entry != free_.begin()) {
    const auto before = std::prev(entry);
    if (before->first + before->second == entry->first) {
      before->second += entry->second;
      free_.erase(entry);
    }
  }
  last_freed_ = offset;
  free_bytes_ += size;
}

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
