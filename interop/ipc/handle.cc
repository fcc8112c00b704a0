#include "dovetail/interop/ipc/handle.h"

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

constexpr uint32_t kMagic = 0x43504944;  // "DIPC"
constexpr uint32_t kVersion = 1;
constexpr size_t kLongestName = 4096;

// The fixed-size header. The shape and the strides follow, `rank` numbers each, then the memory's
// name.
struct Head {
  uint32_t magic;
  uint32_t version;
  uint64_t checksum;  // of all bytes after this field
  int32_t device_type;
  int32_t device_index;
  uint8_t kind;
  uint8_t bits;
  uint16_t lanes;
  uint8_t read_only;
  uint8_t padded;
  uint16_t rank;
  uint32_t name_bytes;
  uint32_t unused;
  int64_t byte_offset;
};
static_assert(sizeof(Head) == 48 && std::has_unique_object_representations_v<Head>);
constexpr size_t kChecked = offsetof(Head, checksum) + sizeof(Head::checksum);

// FNV-1a: detects accidental damage, not tampering.
uint64_t Checksum(std::string_view bytes) {
  uint64_t sum = 0xcbf29ce484222325;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

absl::Status Bad(std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("This is not a handle of shared memory: ", why, "."));
}

}  // namespace

std::string Handle::ToBytes() const {
  const auto rank = static_cast<size_t>(layout.rank());
  const size_t dims = rank * sizeof(int64_t);
  Head head = {.magic = kMagic,
               .version = kVersion,
               .device_type = static_cast<int32_t>(device.type),
               .device_index = device.index,
               .kind = static_cast<uint8_t>(dtype.kind),
               .bits = dtype.bits,
               .lanes = dtype.lanes,
               .read_only = options.access == Access::kReadOnly,
               .padded = options.packing == Packing::kPadded,
               .rank = static_cast<uint16_t>(rank),
               .name_bytes = static_cast<uint32_t>(memory.size()),
               .byte_offset = byte_offset};
  std::string bytes(sizeof head + 2 * dims + memory.size(), '\0');
  char* to = bytes.data() + sizeof head;
  if (rank != 0) {
    std::memcpy(to, layout.shape().data(), dims);
    std::memcpy(to + dims, layout.strides().data(), dims);
  }
  memory.copy(to + 2 * dims, memory.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  head.checksum = Checksum(std::string_view(bytes).substr(kChecked));
  std::memcpy(bytes.data(), &head, sizeof head);
  return bytes;
}

absl::StatusOr<Handle> Handle::FromBytes(std::string_view bytes) {
  Head head;
  if (bytes.size() < sizeof head) {
    return Bad(
        absl::StrCat("it has ", bytes.size(), " bytes, and the shortest handle has ", sizeof head));
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kMagic) return Bad("it does not begin with a handle's magic number");
  if (head.version != kVersion) {
    return Bad(absl::StrCat("it has version ", head.version, ", and this Dovetail has version ",
                            kVersion, "; both processes need the same Dovetail"));
  }
  if (head.rank > Layout::kMaxRank || head.name_bytes > kLongestName) {
    return Bad(absl::StrCat("it declares ", head.rank, " dimensions and a name of ",
                            head.name_bytes, " bytes"));
  }
  const size_t dims = head.rank * sizeof(int64_t);
  const size_t expected = sizeof head + 2 * dims + head.name_bytes;
  if (bytes.size() != expected) {
    return Bad(absl::StrCat("it has ", bytes.size(), " bytes and should have ", expected));
  }
  if (Checksum(bytes.substr(kChecked)) != head.checksum) {
    return Bad("it is damaged (its checksum does not match)");
  }
  if (head.read_only > 1 || head.padded > 1) return Bad("its flags are unknown");
  if (head.device_index < 0) return Bad("its device has a negative index");

  Handle handle;
  handle.device = {static_cast<DeviceType>(head.device_type), head.device_index};
  absl::StatusOr<DType> dtype =
      DType::Make(static_cast<TypeKind>(head.kind), head.bits, head.lanes);
  if (!dtype.ok()) return Bad(dtype.status().message());
  handle.dtype = *dtype;
  handle.options = {.access = head.read_only != 0 ? Access::kReadOnly : Access::kReadWrite,
                    .packing = head.padded != 0 ? Packing::kPadded : Packing::kPacked};
  std::vector<int64_t> numbers(size_t{2} * head.rank);
  if (head.rank != 0) std::memcpy(numbers.data(), bytes.data() + sizeof head, 2 * dims);
  const absl::Span<const int64_t> all = numbers;
  absl::StatusOr<Layout> layout =
      Layout::Strided(all.subspan(0, head.rank), all.subspan(head.rank));
  if (!layout.ok()) return Bad(layout.status().message());
  handle.layout = *std::move(layout);
  handle.byte_offset = head.byte_offset;
  handle.memory = bytes.substr(sizeof head + 2 * dims);
  if (handle.memory.empty() && handle.layout.num_elements() != 0) return Bad("it names no memory");
  return handle;
}

std::string Handle::ToString() const {
  return absl::StrCat(options.access == Access::kReadOnly ? "read-only " : "", dtype.ToString(),
                      " tensor of ", layout.ToString(), ", on ", device.ToString());
}

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
