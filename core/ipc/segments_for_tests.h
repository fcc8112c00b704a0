// Segments, their slots and their files, for tests.

#ifndef DOVETAIL_CORE_IPC_SEGMENTS_FOR_TESTS_H_
#define DOVETAIL_CORE_IPC_SEGMENTS_FOR_TESTS_H_

#include <fcntl.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "dovetail/core/config.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/core/testing/private_shared_memory.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

inline std::string FileOf(SegmentName name) { return PathOf(name).c_str(); }

// The segment's file, opened for itself.
inline int OpenFileOf(const Segment& segment) {
  return open(FileOf(segment.name()).c_str(), O_RDWR | O_CLOEXEC);
}

// A slot of `nbytes` bytes in a segment of its own.
inline absl::StatusOr<SlotHold> TryMake(size_t nbytes = 100,
                                        SegmentKind kind = SegmentKind::kHostMemory,
                                        SegmentBacking backing = SegmentBacking::kNamed) {
  absl::StatusOr<std::shared_ptr<Segment>> made = Segment::Create(nbytes, kind, backing);
  if (!made.ok()) return made.status();
  return (*made)->Allocate(nbytes);
}

inline absl::Status TryOpen(const SlotName& name, SegmentKind kind = SegmentKind::kHostMemory) {
  return SlotHold::Open(name, kind).status();
}

inline char* BytesOf(const SlotHold& hold) { return static_cast<char*>(*hold.Data()); }

// Fills the first `nbytes` bytes with numbers that depend on the key and the place.
inline void FillWith(const SlotHold& hold, size_t nbytes, uint64_t key) {
  for (size_t i = 0; i + sizeof key <= nbytes; i += sizeof key) {
    const uint64_t number = key * 1'000'003 + i;
    std::memcpy(BytesOf(hold) + i, &number, sizeof number);
  }
}
inline bool IsFilledWith(const SlotHold& hold, size_t nbytes, uint64_t key) {
  for (size_t i = 0; i + sizeof key <= nbytes; i += sizeof key) {
    uint64_t number;
    std::memcpy(&number, BytesOf(hold) + i, sizeof number);
    if (number != key * 1'000'003 + i) return false;
  }
  return true;
}

// By default 2 MiB and 40 files.
inline void InPrivateMemory(const std::function<void()>& body,
                            const std::string& options = "size=2m,nr_inodes=40") {
  InPrivateSharedMemory(options, body);
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_IPC_SEGMENTS_FOR_TESTS_H_
