#include "dovetail/interop/ipc/handle.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {
namespace {

// The fixed-size head. What follows is written as variable-length numbers, seven bits a byte,
// signed ones with the sign in the lowest bit: the device's type and index, the element's kind,
// bits and lanes, the rank, the shape, the strides unless kRowMajor, and the byte offset. The
// memory's name is the rest.
struct Head {
  char magic[2];
  uint8_t version;
  uint8_t flags;
  uint32_t checksum;  // of the flags and all bytes after this field
};
static_assert(sizeof(Head) == 8 && std::has_unique_object_representations_v<Head>);
constexpr char kMagic[2] = {'D', 'T'};
constexpr uint8_t kVersion = 3;
constexpr std::string_view kMagicOfVersion1 = "DIPC";
constexpr size_t kLongestName = 4096;

enum Flag : uint8_t { kReadOnly = 1, kPadded = 2, kRowMajor = 4, kAllFlags = 7 };

// FNV-1a: detects accidental damage, not tampering.
uint32_t Checksum(uint8_t flags, std::string_view bytes) {
  uint64_t sum = (0xcbf29ce484222325 ^ flags) * 0x100000001b3;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return static_cast<uint32_t>(sum ^ sum >> 32);
}

class Writer {
 public:
  void Add(uint64_t number) {
    for (; number > 127; number >>= 7) bytes_.push_back(static_cast<char>(number | 128));
    bytes_.push_back(static_cast<char>(number));
  }
  void AddSigned(int64_t number) {
    Add(static_cast<uint64_t>(number) << 1 ^ static_cast<uint64_t>(number >> 63));
  }
  std::string& bytes() { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Take() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) break;
      number |= uint64_t{byte & 127u} << shift;
      if (byte < 128) return number;
    }
    is_ok_ = false;
    return 0;
  }
  int64_t TakeSigned() {
    const uint64_t number = Take();
    return static_cast<int64_t>(number >> 1 ^ (0 - (number & 1)));
  }
  bool is_ok() const { return is_ok_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool is_ok_ = true;
};

bool IsRowMajor(const Layout& layout) {
  const absl::StatusOr<Layout> row_major = Layout::Contiguous(layout.shape());
  return row_major.ok() && row_major->strides() == layout.strides();
}

absl::Status Bad(std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("This is not a handle of shared memory: ", why, "."));
}

}  // namespace

std::string Handle::ToBytes() const {
  const bool is_row_major = IsRowMajor(layout);
  Writer writer;
  writer.AddSigned(static_cast<int32_t>(device.type));
  writer.AddSigned(device.index);
  writer.Add(static_cast<uint64_t>(dtype.kind));
  writer.Add(dtype.bits);
  writer.Add(dtype.lanes);
  writer.Add(static_cast<uint64_t>(layout.rank()));
  for (const int64_t size : layout.shape()) writer.AddSigned(size);
  if (!is_row_major) {
    for (const int64_t stride : layout.strides()) writer.AddSigned(stride);
  }
  writer.AddSigned(byte_offset);
  Head head = {.magic = {kMagic[0], kMagic[1]}, .version = kVersion, .flags = 0, .checksum = 0};
  if (options.access == Access::kReadOnly) head.flags |= kReadOnly;
  if (options.packing == Packing::kPadded) head.flags |= kPadded;
  if (is_row_major) head.flags |= kRowMajor;
  writer.bytes() += memory;
  head.checksum = Checksum(head.flags, writer.bytes());
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  return bytes += writer.bytes();
}

absl::StatusOr<Handle> Handle::FromBytes(std::string_view bytes) {
  if (bytes.starts_with(kMagicOfVersion1)) {
    return Bad("it is of an older Dovetail; both processes need the same one");
  }
  Head head;
  if (bytes.size() < sizeof head) {
    return Bad(absl::StrCat("it has ", bytes.size(),
                            " bytes, and the shortest handle has more than ", sizeof head));
  }
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) {
    return Bad("it does not begin with a handle's magic number");
  }
  if (head.version != kVersion) {
    return Bad(absl::StrCat("it has version ", head.version, ", and this Dovetail has version ",
                            kVersion, "; both processes need the same Dovetail"));
  }
  const std::string_view rest = bytes.substr(sizeof head);
  if (Checksum(head.flags, rest) != head.checksum) {
    return Bad("it is damaged (its checksum does not match)");
  }
  if ((head.flags & ~kAllFlags) != 0) return Bad("its flags are unknown");
  Reader reader(rest);
  const int64_t device_type = reader.TakeSigned(), device_index = reader.TakeSigned();
  const uint64_t kind = reader.Take(), bits = reader.Take(), lanes = reader.Take();
  const uint64_t rank = reader.Take();
  if (rank > Layout::kMaxRank) return Bad(absl::StrCat("it declares ", rank, " dimensions"));
  std::vector<int64_t> shape(rank), strides(rank);
  for (int64_t& size : shape) size = reader.TakeSigned();
  if ((head.flags & kRowMajor) == 0) {
    for (int64_t& stride : strides) stride = reader.TakeSigned();
  }
  Handle handle;
  handle.byte_offset = reader.TakeSigned();
  if (!reader.is_ok()) return Bad("it is cut short, or one of its numbers has too many digits");
  handle.memory = reader.rest();
  if (handle.memory.size() > kLongestName) {
    return Bad(absl::StrCat("it has a name of ", handle.memory.size(), " bytes"));
  }

  if (device_index < 0 || device_index > std::numeric_limits<int32_t>::max()) {
    return Bad(absl::StrCat("its device has the index ", device_index));
  }
  if (device_type < std::numeric_limits<int32_t>::min() ||
      device_type > std::numeric_limits<int32_t>::max()) {
    return Bad(absl::StrCat("its device has the type ", device_type));
  }
  handle.device = {static_cast<DeviceType>(device_type), static_cast<int32_t>(device_index)};
  if (kind > 255 || bits > 255 || lanes > 65535) return Bad("it declares no type that there is");
  absl::StatusOr<DType> dtype = DType::Make(static_cast<TypeKind>(kind), static_cast<uint8_t>(bits),
                                            static_cast<uint16_t>(lanes));
  if (!dtype.ok()) return Bad(dtype.status().message());
  handle.dtype = *dtype;
  handle.options = {
      .access = (head.flags & kReadOnly) != 0 ? Access::kReadOnly : Access::kReadWrite,
      .packing = (head.flags & kPadded) != 0 ? Packing::kPadded : Packing::kPacked};
  absl::StatusOr<Layout> layout =
      (head.flags & kRowMajor) != 0 ? Layout::Contiguous(shape) : Layout::Strided(shape, strides);
  if (!layout.ok()) return Bad(layout.status().message());
  handle.layout = *std::move(layout);
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
