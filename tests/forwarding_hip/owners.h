// Which device memory, streams and events are of. CUDA can't tell where several devices are one GPU
// (shared_gpu.h).
//
//   Owners memory;
//   memory.Add(ptr, nbytes, {CurrentDevice(), /*is_pooled=*/true});
//   std::optional<Owner> owner = memory.Find(ptr + 3);      // nothing: another library's memory
//
// Any thread. Memory is removed before it is freed, since another thread may get the address next.

#ifndef DOVETAIL_TESTS_FORWARDING_HIP_OWNERS_H_
#define DOVETAIL_TESTS_FORWARDING_HIP_OWNERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace forwarding_hip {

struct Owner {
  int device;
  bool is_pooled = false;
};

class Owners {
 public:
  void Add(const void* base, size_t nbytes, Owner owner) {
    std::lock_guard<std::mutex> lock(mutex_);
    ranges_[reinterpret_cast<uintptr_t>(base)] = {nbytes, owner};
  }
  void Remove(const void* base) {
    std::lock_guard<std::mutex> lock(mutex_);
    ranges_.erase(reinterpret_cast<uintptr_t>(base));
  }
  std::optional<Owner> Find(const void* data) const {
    const auto address = reinterpret_cast<uintptr_t>(data);
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = ranges_.upper_bound(address);
    if (found == ranges_.begin()) return std::nullopt;
    --found;
    if (address - found->first >= found->second.nbytes) return std::nullopt;
    return found->second.owner;
  }

 private:
  struct Range {
    size_t nbytes;
    Owner owner;
  };

  mutable std::mutex mutex_;
  std::map<uintptr_t, Range> ranges_;  // by base
};

// Whether memory, a stream or an event may belong to the device. What another library made has no
// known owner, and may.
inline bool MayBeOf(const std::optional<Owner>& owner, int device) {
  return !owner || owner->device == device;
}

}  // namespace forwarding_hip

#endif  // DOVETAIL_TESTS_FORWARDING_HIP_OWNERS_H_
