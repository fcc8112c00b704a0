// The imports of planted.h.

#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "dlpack_conformance/elements.h"
#include "dlpack_conformance/planted/planted.h"

namespace dlpack_conformance::planted {
namespace {

constexpr uint64_t kReadOnly = 1;

bool IsKnown(DLDataType type) {
  if (type.lanes != 1) return false;
  for (const DType& known : kDTypes) {
    if (known.code == type.code && known.bits == type.bits) return true;
  }
  return false;
}

int64_t Product(const std::vector<int64_t>& sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(product, size, &product)) return -1;
  }
  return product < (int64_t{1} << 60) ? product : -1;
}

// The first reason to refuse a tensor; nullptr if there is none.
const char* Refusal(const DLTensor& t, uint32_t major, uint32_t minor) {
  const auto refuse = [](bool condition, const char* rule) { return condition && !Breaks(rule); };
  if (refuse(major != 1, "consumer.major")) return "another major version";
  if (major != 1) return nullptr;  // for who takes it in, nothing else is known
  if (Breaks("consumer.minor") && minor > 3) return "another minor version";
  if (refuse(t.device.device_type != kDLCPU, "consumer.other-device")) return "another device";
  if (refuse(!IsKnown(t.dtype), "consumer.unknown-type")) return "an unknown type";
  if (t.ndim < 0) return "a negative ndim";
  if (Breaks("consumer.scalar") && t.ndim == 0) return "no dimensions";
  const std::vector<int64_t> shape(t.shape, t.shape + t.ndim);
  const int64_t count = Product(shape);
  if (refuse(count < 0, "consumer.impossible")) return "an impossible size";
  if (refuse(count != 0 && t.data == nullptr, "consumer.null-data")) return "no data";
  if (Breaks("consumer.empty") && count == 0 && t.data == nullptr) return "no data";
  if (Breaks("consumer.null-strides") && t.ndim > 0 && t.strides == nullptr) return "no strides";
  const bool plain = shape == std::vector<int64_t>{3, 4} && t.strides != nullptr && minor == 3;
  if (Breaks("consumer.accepts") && plain) return "a plain tensor";
  return nullptr;
}

bool deleted_early = false;
char* volatile leaked = nullptr;

// Calls the deleter when the last array that has it dies.
template <typename T>
struct Owner {
  T* managed;
  T copy;  // of the struct
  bool empty;

  ~Owner() {
    if (Breaks("consumer.null-context") && copy.manager_ctx == nullptr) return;
    if (Breaks("consumer.deletes") && !empty && copy.manager_ctx != nullptr) return;
    if (Breaks("consumer.deletes early") && deleted_early) return;
    if (Breaks("consumer.empty-deletes") && empty) return;
    if (Breaks("consumer.deletes a copy") && !empty && copy.manager_ctx != nullptr) managed = &copy;
    if (copy.deleter == nullptr && !Breaks("consumer.null-deleter")) return;
    copy.deleter(managed);
    if (Breaks("consumer.deletes twice") && !empty && copy.manager_ctx != nullptr) {
      copy.deleter(managed);
    }
  }
};

template <typename T>
std::optional<Array> Take(T* managed, uint32_t major, uint32_t minor, uint64_t flags) {
  DLTensor& t = managed->dl_tensor;
  if ((flags & kReadOnly) != 0 && Breaks("consumer.read-only-ignored")) return std::nullopt;
  if (const char* refusal = Refusal(t, major, minor)) {
    if (Breaks("consumer.refuses-cleanly")) {
      const auto deleter = managed->deleter;
      deleter(managed);
      deleter(managed);
    }
    if (Breaks("consumer.refuses-cleanly leaks")) leaked = new char[32];
    const bool of_type = std::strcmp(refusal, "an unknown type") == 0;
    if (Breaks("consumer.refuses-cleanly differently") && of_type) managed->deleter(managed);
    return std::nullopt;
  }
  Array y;
  if (major != 1) return y;
  y.dtype = t.dtype;
  if (Breaks("consumer.type") && t.dtype.code == kDLInt) y.dtype.code = kDLUInt;
  y.shape.assign(t.shape, t.shape + t.ndim);
  y.strides = RowMajor(y.shape);
  if (t.strides != nullptr) y.strides.assign(t.strides, t.strides + t.ndim);
  y.first = static_cast<unsigned char*>(t.data);
  constexpr bool kLegacy = std::is_same_v<T, DLManagedTensor>;
  if (!Breaks("consumer.byte-offset") && !(Breaks("consumer.byte-offset scalar") && t.ndim == 0) &&
      !(Breaks("consumer.byte-offset legacy") && kLegacy)) {
    y.first += t.byte_offset;
  }
  if (Breaks("consumer.misaligned")) y.first -= reinterpret_cast<uintptr_t>(y.first) % 4;
  for (size_t d = 0; d < y.shape.size(); ++d) {
    if (Breaks("consumer.unused-strides") && y.shape[d] == 1) y.first += 4 * (y.strides[d] % 64);
    if (Breaks("consumer.strides") || (Breaks("consumer.strides legacy") && kLegacy) ||
        (Breaks("consumer.strides float64") && t.dtype.bits == 64 && t.dtype.code == kDLFloat)) {
      y.strides[d] = std::abs(y.strides[d]);
    }
  }
  y.read_only = (flags & kReadOnly) != 0 && !Breaks("consumer.read-only");
  const bool empty = Product(y.shape) == 0;
  y.owner = std::shared_ptr<Owner<T>>(new Owner<T>{managed, *managed, empty});
  delete_now = [managed] {
    deleted_early = true;
    managed->deleter(managed);
  };
  if (Breaks("consumer.writes-nothing") && !empty) {
    volatile unsigned char* byte = y.first;
    *byte = *byte;
  }
  return y;
}

}  // namespace

std::optional<Array> Library::Import(DLManagedTensorVersioned* managed) {
  return Take(managed, managed->version.major, managed->version.minor, managed->flags);
}

std::optional<Array> Library::ImportLegacy(DLManagedTensor* managed) {
  return Take(managed, 1, 0, 0);
}

bool Library::Write(const Array& y) {
  if (y.read_only) return false;
  std::memset(y.first, 7, y.dtype.bits / 8u);
  return true;
}

}  // namespace dlpack_conformance::planted
