// Handles of shared memory, and the heads and tables of segments, of any bytes. Only what is whole
// is read, and a tensor that is opened lies in its segment.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/ipc/participants.h"
#include "dovetail/core/ipc/segment.h"
#include "dovetail/core/ipc/segment_folder.h"
#include "dovetail/core/ipc/slot_table.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/interop/ipc/handle.h"
#include "dovetail/interop/ipc/open.h"
#include "dovetail/interop/ipc/record.h"
#include "dovetail/interop/ipc/share.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

// interop/ipc/handle.cc: magic, version, flags, checksum
constexpr size_t kFlagsAt = 3, kChecksumAt = 4, kChecksumEnd = 8;
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
  const auto flags = static_cast<unsigned char>((*bytes)[kFlagsAt]);
  uint64_t sum = (0xcbf29ce484222325 ^ flags) * 0x100000001b3;  // FNV-1a
  for (size_t i = kChecksumEnd; i < bytes->size(); ++i) {
    sum = (sum ^ static_cast<unsigned char>((*bytes)[i])) * 0x100000001b3;
  }
  const auto folded = static_cast<uint32_t>(sum ^ sum >> 32);
  std::memcpy(bytes->data() + kChecksumAt, &folded, sizeof folded);
}

ipc::SlotHold SlotOf(const Tensor& tensor) { return ipc::SlotHold::FindAt(tensor.raw_data()); }

// A message that names a slot with the bytes.
std::string RecordOf(std::string bytes) {
  bytes.resize(std::max(bytes.size(), ipc::kMostMessageBytes + 1), 'p');
  const ipc::SlotHold memory = SlotOf(TheShared().tensor);
  static ipc::SlotHold record;
  record = *memory.segment()->Allocate(sizeof(uint64_t) + bytes.size());
  const uint64_t nbytes = bytes.size();
  auto* data = static_cast<char*>(*record.Data());
  std::memcpy(data, &nbytes, sizeof nbytes);
  bytes.copy(data + sizeof nbytes, nbytes);
  return "DR3" + record.name().ToBytes();
}

void TryHandle(Input& input) {
  std::string bytes = TheShared().handle;
  if (input.OneIn(8)) bytes = input.Text(200);
  for (int64_t edits = input.Between(0, 3); edits > 0 && !bytes.empty(); --edits) {
    const int64_t at = input.Between(0, static_cast<int64_t>(bytes.size()) - 1);
    const int64_t number = input.Number();
    const auto place = static_cast<size_t>(at);
    const size_t size = std::min(input.OneIn(4) ? sizeof number : size_t{1}, bytes.size() - place);
    if (input.OneIn(4)) {
      bytes.insert(place, 1, static_cast<char>(number));
    } else {
      std::memcpy(bytes.data() + place, &number, size);
    }
  }
  if (input.OneIn(8)) bytes.resize(input.Between(0, 300));
  if (!input.OneIn(8)) FixChecksum(&bytes);
  if (input.OneIn(4)) bytes = input.OneIn(2) ? RecordOf(bytes) : "DR3" + bytes;
  if (bytes.starts_with("DR3")) {
    const absl::Status s = ipc::Open(bytes).status();
    Require(s.ok() || absl::IsInvalidArgument(s) || absl::IsFailedPrecondition(s) ||
                absl::IsNotFound(s),
            "a message is opened or refused", s);
    return;
  }
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
  // (In a second mapping, if the name says that it is read-only.)
  const ipc::SlotHold slot = ipc::SlotHold::FindAt(tensor->storage()->data());
  Require(slot && slot.segment() == SlotOf(TheShared().tensor).segment(),
          "only the segment that exists is opened", *tensor);
  const auto* begin = static_cast<const char*>(tensor->storage()->data());
  int64_t reached = static_cast<const char*>(tensor->raw_data()) - begin;
  Require(reached >= 0 && reached < kSegmentBytes, "element 0 lies in the segment", *tensor);
  if (tensor->nbytes() > 1 << 16) return;
  Require(Copied(*tensor).ok(), "a tensor is copied", *tensor);
}

// Writes to all of a slot, which must lie in the segment.
void Overwrite(const ipc::SlotHold& slot) {
  const auto data = slot.Data();
  Require(data.ok(), "the data are mapped", data.status());
  Require(slot.nbytes() <= slot.segment()->nbytes(), "a slot lies in its segment", slot.nbytes());
  std::memset(*data, 1, slot.nbytes());
}

void UseSegment(Input& input, ipc::SegmentName name, uint64_t size) {
  const auto kind =
      input.OneIn(2) ? ipc::SegmentKind::kHostMemory : ipc::SegmentKind::kDeviceBlocks;
  {
    const absl::StatusOr<ipc::SlotHold> slot =
        ipc::SlotHold::Open({name, static_cast<uint64_t>(input.Between(0, 5)),
                             static_cast<uint64_t>(input.Between(0, 2))},
                            kind);
    if (slot.ok()) {
      Overwrite(*slot);
    } else {
      Require(absl::IsFailedPrecondition(slot.status()), "a refusal is FailedPrecondition",
              slot.status());
    }
  }
  const absl::StatusOr<std::shared_ptr<ipc::Segment>> segment = ipc::Segment::Open(name);
  if (!segment.ok()) return;
  Require(ipc::SegmentParts((*segment)->nbytes() / ipc::kGranuleBytes).nbytes == size,
          "a segment has its file's bytes");
  if (input.OneIn(4)) (void)(*segment)->Reclaim().ok();
  for (int64_t times = input.Between(0, 4); times > 0; --times) {
    const auto slot = (*segment)->Allocate(static_cast<size_t>(input.Between(0, 40)) * 4096);
    if (slot.ok()) Overwrite(*slot);
  }
  (void)(*segment)->Stats().ok();
  (*segment)->head().closed.store(1);  // so that it is unmapped
}

// A file as a process of this user may leave or write it.
void TrySegment(Input& input) {
  const absl::StatusOr<ipc::ProcessToken> me = ipc::MyProcess();
  Require(me.ok(), "this process has a token", me.status());
  static uint64_t number = uint64_t{1} << 40;
  const ipc::SegmentName name = {*me, ++number};
  const auto granules = static_cast<uint64_t>(input.Between(1, 70));
  const ipc::SegmentParts parts(granules);
  // The head and the table, with a free slot after a used one, are changed here and there.
  std::vector<uint64_t> words(parts.data / 8 + 1);
  const ipc::SegmentFacts facts = {.magic = 0x334c4f4f'50545644,
                                   .kind = static_cast<ipc::SegmentKind>(input.Between(1, 2)),
                                   .unused = 0,
                                   .granules = granules,
                                   .name = name};
  std::memcpy(words.data(), &facts, sizeof facts);
  {
    ipc::SlotTable table(words.data() + parts.table / 8, granules);
    const auto used = table.Carve(3, static_cast<uint64_t>(input.Between(1, 3)));
    const auto free = table.Carve(4, static_cast<uint64_t>(input.Between(1, 9)));
    if (used && free) table.Drop(4, *free);
  }
  for (int64_t edits = input.Between(0, 6); edits > 0; --edits) {
    const int64_t first = static_cast<int64_t>(input.OneIn(4) ? 0 : parts.table / 8);
    words[input.Between(first, static_cast<int64_t>(parts.data / 8) - 1)] =
        static_cast<uint64_t>(input.Number());
  }
  auto size = static_cast<int64_t>(parts.nbytes);
  if (input.OneIn(8)) size = input.Between(0, 30000);
  const std::string path = ipc::PathOf(name).c_str();
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  Require(file >= 0, "a file is made", path);
  const bool written = write(file, words.data(), std::min<size_t>(parts.data, size)) >= 0 &&
                       ftruncate(file, size) == 0;
  Require(written && ipc::TakeNumber(file, ipc::kMaker), "a file is written");
  UseSegment(input, name, static_cast<uint64_t>(size));
  close(file);
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
