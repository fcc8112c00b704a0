// Handles of shared memory and the heads of segments, of any bytes. Only what is whole is read, and
// a tensor that is opened lies in its segment.

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/ipc/process_token.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr size_t kChecksumEnd = 16;  // interop/ipc/handle.cc: magic, version, checksum
constexpr int64_t kSegmentBytes = 4096;

// A tensor in shared memory, whose handle the inputs change.
struct Shared {
  Shared() {
    Require(RegisterCpuBackend(Registry::Global()).ok(), "the CPU has a backend");
    tensor = *ipc::Empty({4, 16, 16}, kFloat32);
    handle = ipc::Share(tensor)->ToBytes();
  }
  Tensor tensor;
  std::string handle;
};
const Shared& TheShared() {
  static const Shared* const shared = new Shared;
  return *shared;
}

void FixChecksum(std::string* bytes) {
  if (bytes->size() < kChecksumEnd) return;
  uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (size_t i = kChecksumEnd; i < bytes->size(); ++i) {
    sum = (sum ^ static_cast<unsigned char>((*bytes)[i])) * 0x100000001b3;
  }
  std::memcpy(bytes->data() + kChecksumEnd - sizeof sum, &sum, sizeof sum);
}

void TryHandle(Input& input) {
  std::string bytes = TheShared().handle;
  if (input.OneIn(8)) bytes = input.Text(200);
  for (int64_t edits = input.Between(0, 3); edits > 0 && !bytes.empty(); --edits) {
    const int64_t at = input.Between(0, static_cast<int64_t>(bytes.size()) - 1);
    const int64_t number = input.Number();
    // Numbers lie at multiples of 8 as a rule.
    const size_t place = static_cast<size_t>(input.OneIn(2) ? at : at / 8 * 8);
    const size_t size = std::min(input.OneIn(2) ? size_t{1} : sizeof number, bytes.size() - place);
    std::memcpy(bytes.data() + place, &number, size);
  }
  if (input.OneIn(8)) bytes.resize(input.Between(0, 300));
  if (!input.OneIn(8)) FixChecksum(&bytes);
  const absl::StatusOr<ipc::Handle> handle = ipc::Handle::FromBytes(bytes);
  if (!handle.ok()) {
    Require(absl::IsInvalidArgument(handle.status()), "a refusal is InvalidArgument");
    return;
  }
  Require(handle->device.index >= 0, "a handle names a device that there can be");
  const absl::StatusOr<ipc::Handle> again = ipc::Handle::FromBytes(handle->ToBytes());
  Require(again.ok() && again->ToBytes() == handle->ToBytes(), "a handle is written as it is read",
          handle->ToString());
  const absl::StatusOr<Tensor> tensor = ipc::Open(*handle);
  if (!tensor.ok() || tensor->num_elements() == 0) return;
  Require(tensor->storage()->data() == TheShared().tensor.storage()->data(),
          "only the segment that exists is opened", *tensor);
  const auto* begin = static_cast<const char*>(tensor->storage()->data());
  int64_t reached = static_cast<const char*>(tensor->raw_data()) - begin;
  Require(reached >= 0 && reached < kSegmentBytes, "element 0 lies in the segment", *tensor);
  if (tensor->nbytes() > 1 << 16) return;
  Require(Copied(*tensor).ok(), "a tensor is copied", *tensor);
}

// A file as a process of this user may leave or write it.
void TrySegment(Input& input) {
  const absl::StatusOr<ipc::ProcessToken> me = ipc::MyProcess();
  Require(me.ok(), "this process has a token", me.status());
  const ipc::SegmentName name = {*me, uint64_t{1} << 40};
  // core/ipc/segment.cc: magic, kind, unused, bytes, process, number, closed, 2 reserved, borrowers
  uint64_t head[512] = {0x31474553'56545644,
                        static_cast<uint64_t>(input.Between(1, 2)),
                        static_cast<uint64_t>(input.Between(0, 512)),
                        static_cast<uint64_t>(name.process),
                        name.number,
                        input.OneIn(4) ? 1u : 0u};
  int64_t size = 4096 + static_cast<int64_t>(head[2]);
  for (int64_t edits = input.Between(0, 4); edits > 0; --edits) {
    head[input.OneIn(2) ? input.Between(0, 9) : input.Between(8, 511)] =
        static_cast<uint64_t>(input.Number());
  }
  if (input.OneIn(8)) size = input.Between(0, 9000);
  const std::string path =
      ipc::FilePath(name.process, absl::StrCat(absl::Hex(name.number))).c_str();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  Require(file >= 0, "a file is made", path);
  const bool written =
      write(file, head, std::min<size_t>(sizeof head, size)) >= 0 && ftruncate(file, size) == 0;
  close(file);
  Require(written, "a file is written");
  const auto kind = input.OneIn(2) ? ipc::SegmentKind::kHostMemory : ipc::SegmentKind::kDeviceBlock;
  {
    const absl::StatusOr<std::shared_ptr<ipc::Segment>> segment = ipc::Segment::Open(name, kind);
    if (segment.ok()) {
      Require((*segment)->nbytes() == static_cast<uint64_t>(size) - 4096,
              "a segment has its file's bytes");
      unsigned sum = 0;
      for (size_t i = 0; i < (*segment)->nbytes(); ++i) {
        sum += static_cast<const unsigned char*>((*segment)->data())[i];
      }
      Require(sum == 0, "the bytes are those of the file", sum);
      const bool borrowed = (*segment)->Borrow().ok();
      if (borrowed) (*segment)->Return();
      (*segment)->Close(/*thorough=*/input.OneIn(2));
    } else {
      Require(absl::IsFailedPrecondition(segment.status()), "a refusal is FailedPrecondition",
              segment.status());
    }
  }
  unlink(path.c_str());
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  if (input.OneIn(3)) {
    dovetail::fuzz::TrySegment(input);
  } else {
    dovetail::fuzz::TryHandle(input);
  }
  return 0;
}
