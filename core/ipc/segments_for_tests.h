// Segments and their files, for tests.

#ifndef DOVETAIL_CORE_IPC_SEGMENTS_FOR_TESTS_H_
#define DOVETAIL_CORE_IPC_SEGMENTS_FOR_TESTS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/core/config.h"
#include "dovetail/core/ipc/process_token.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/testing/private_shared_memory.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

inline std::string PathOf(SegmentName name) {
  return FilePath(name.process, absl::StrCat(absl::Hex(name.number))).c_str();
}

inline absl::StatusOr<std::shared_ptr<Segment>> TryMake(size_t nbytes = 100) {
  return Segment::Create(SegmentKind::kHostMemory, nbytes);
}

inline absl::Status TryOpen(SegmentName name) {
  return Segment::Open(name, SegmentKind::kHostMemory).status();
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
