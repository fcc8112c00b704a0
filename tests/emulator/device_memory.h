// DeviceMemory: the memory of an emulated GPU. Device addresses are mapped without access, so that
// the host can't touch them. The emulator works through a second mapping of the same pages.
//
//   DeviceMemory memory(64 << 20);
//   void* p = memory.Reserve(1024);         // an address that traps
//   std::memset(memory.Translate(p), 0, 1024);
//
// Not thread-safe. Sizes are in bytes.

#ifndef DOVETAIL_TESTS_EMULATOR_DEVICE_MEMORY_H_
#define DOVETAIL_TESTS_EMULATOR_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace emulator {

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t capacity);
  // Memory of another process's device, from its file, starting at `offset`.
  DeviceMemory(int file, size_t offset, size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // An unused range, aligned to 256 bytes, or nullptr. The range that was freed last is reused
  // first.
  void* Reserve(size_t nbytes);
  void Release(void* data, size_t nbytes);

  bool Contains(const void* data) const {
    const auto p = reinterpret_cast<uintptr_t>(data);
    const auto base = reinterpret_cast<uintptr_t>(seen_);
    return p >= base && p - base < capacity_;
  }
  // The emulator's address of the program's address `data`.
  void* Translate(const void* data) const {
    return worked_ + (static_cast<const char*>(data) - seen_);
  }

  void* base() const { return seen_; }
  size_t capacity() const { return capacity_; }
  size_t free_bytes() const { return free_bytes_; }
  int file() const { return file_; }
  size_t OffsetOf(const void* data) const {
    return static_cast<size_t>(static_cast<const char*>(data) - seen_);
  }

 private:
  void Map(size_t offset);

  int file_;
  size_t capacity_;
  size_t free_bytes_;
  char* seen_ = nullptr;
  char* worked_ = nullptr;
  std::map<size_t, size_t> free_;  // offset to size
  size_t last_freed_ = SIZE_MAX;   // offset
};

}  // namespace emulator
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_TESTS_EMULATOR_DEVICE_MEMORY_H_
