// What this process knows of segments. For the files of Segment alone.

#ifndef DOVETAIL_CORE_IPC_SEGMENT_TABLES_H_
#define DOVETAIL_CORE_IPC_SEGMENT_TABLES_H_

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/segment.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

inline absl::Status CantMap(size_t nbytes) {
  return absl::ResourceExhaustedError(absl::StrCat(
      "A shared memory of ", nbytes, " bytes can't be mapped: ", std::strerror(errno), "."));
}

// Private pages of zeros, which take memory only once they are written.
template <typename T>
class LazyArray {
 public:
  static absl::StatusOr<LazyArray> Make(size_t count) {
    void* mapped = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return CantMap(count * sizeof(T));
    return LazyArray(static_cast<T*>(mapped), count);
  }
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(other.count_) {}
  LazyArray& operator=(LazyArray&&) = delete;
  ~LazyArray() {
    if (data_ != nullptr) munmap(data_, count_ * sizeof(T));
  }
  T& operator[](size_t i) { return data_[i]; }

 private:
  LazyArray(T* data, size_t count) : data_(data), count_(count) {}
  T* data_;
  size_t count_;
};

struct Segment::Local {
  LazyArray<uint32_t> references;         // by slot
  LazyArray<uint64_t> held;               // a bit per granule: a slot there has references
  LazyArray<uint64_t> held_for_children;  // the same: one of them is never dropped
  // What is kept as long as a slot is, by key.
  std::map<SlotTable::Slot, std::map<std::string, SlotHold, std::less<>>> companions;
};

struct Segment::Tables {
  struct Entry {
    Segment* segment;
    std::weak_ptr<Segment> reference;
  };
  struct Range {
    Segment* segment;
    std::weak_ptr<Segment> reference;
    size_t nbytes;
    bool read_only;
  };
  std::map<SegmentName, Entry> by_name ABSL_GUARDED_BY(StateMutex());
  std::map<const char*, Range> by_address ABSL_GUARDED_BY(StateMutex());
  // A parent's segments of which a forked child does not hold what the parent held.
  std::vector<Segment*> orphans ABSL_GUARDED_BY(StateMutex());
  // Those of which this process has sent messages that keep memory.
  std::vector<std::shared_ptr<Segment>> with_messages ABSL_GUARDED_BY(StateMutex());
  // Other processes' segments, which stay mapped.
  std::vector<std::shared_ptr<Segment>> others ABSL_GUARDED_BY(StateMutex());
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENT_TABLES_H_
