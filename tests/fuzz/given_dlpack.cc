#include "dovetail/tests/fuzz/given_dlpack.h"

#include <optional>
#include <utility>

#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail::fuzz {
namespace {

__extension__ typedef __int128 Wide;

constexpr uint64_t kFlags = DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED |
                            DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;

bool FitsInt64(Wide x) { return x >= INT64_MIN && x <= INT64_MAX; }

std::optional<DType> TypeOf(const DLDataType& type) {
  for (DType t : kAllDTypes) {
    const DLDataType known = ToDLDataType(t);
    if (known.code == type.code && known.bits == type.bits && type.lanes != 0) {
      t.lanes = type.lanes;
      return t;
    }
  }
  return std::nullopt;
}

// The bits of the elements, from the first bit of element 0. kEither if sizes of 0 meet large ones.
struct Span {
  Verdict verdict = Verdict::kInvalid;
  Wide count = 1, begin = 0, end = 0;
};

Span SpanOf(const DLTensor& t, int64_t step_bits, int64_t element_bits) {
  if (t.ndim < 0 || t.ndim > Layout::kMaxRank || (t.ndim > 0 && t.shape == nullptr)) return {};
  Span span;
  Wide lowest = 0, highest = 0, product = 1;  // the latter without sizes of 0
  bool empty = false, large = false;
  for (int dim = t.ndim; dim-- > 0;) {
    const int64_t size = t.shape[dim];
    if (size < 0) return {};
    const Wide stride = t.strides != nullptr ? t.strides[dim] : product;
    const Wide far = size > 1 ? (Wide{size} - 1) * stride : Wide{0};
    (far < 0 ? lowest : highest) += far;
    empty |= size == 0;
    if (size != 0) product *= size;
    large |= !FitsInt64(lowest) || !FitsInt64(highest) || !FitsInt64(product);
    if (large) break;
  }
  for (int dim = 0; dim < t.ndim; ++dim) {
    if (t.shape[dim] < 0) return {};
    empty |= t.shape[dim] == 0;
  }
  span.count = empty ? Wide{0} : product;
  span.verdict = !large ? Verdict::kValid : empty ? Verdict::kEither : Verdict::kInvalid;
  if (large) return span;
  span.begin = lowest * step_bits;
  span.end = highest * step_bits + element_bits;
  return span;
}

void DrawDims(Input& input, GivenDLPack* given) {
  const int64_t rank = input.Between(0, 5);
  Wide step = 1;
  const int64_t way = input.Between(0, 3);  // 0: row-major, NULL; 1: small; else dense, gaps, signs
  std::vector<int64_t> sizes, strides;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(input.Between(0, 15) == 15 ? input.Number() : input.Between(0, 6));
    int64_t stride = way == 1 ? input.Between(-8, 8) : static_cast<int64_t>(step);
    if (way == 3 && input.OneIn(3)) stride = -stride;
    if (input.OneIn(24)) stride = input.Number();
    strides.push_back(stride);
    step = step * sizes.back() + (way == 3 ? input.Between(0, 3) : 0);
    if (step <= 0 || step > INT32_MAX) step = 1;
  }
  for (int64_t i = rank; i > 1 && way > 1; --i) {
    const int64_t other = input.Between(0, i - 1);
    std::swap(sizes[i - 1], sizes[other]);
    std::swap(strides[i - 1], strides[other]);
  }
  given->tensor.ndim = static_cast<int32_t>(rank);
  given->shape = std::move(sizes);
  if (way != 0) given->strides = std::move(strides);
}

}  // namespace

Judgement Judge(const DLTensor& t, uint64_t flags, DLPackVersion version) {
  Judgement judgement;
  const std::optional<DType> type = TypeOf(t.dtype);
  if (version.major != DLPACK_MAJOR_VERSION || (flags & ~kFlags) != 0 || !type.has_value() ||
      t.device.device_id < 0) {
    return judgement;
  }
  const bool padded = (flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
  const int64_t bits = type->element_bits();
  const int64_t step = padded ? (bits + 7) / 8 * 8 : bits;
  const Span span = SpanOf(t, step, step);
  judgement.verdict = span.verdict;
  judgement.empty = span.count == 0;
  judgement.num_elements = static_cast<uint64_t>(span.count);
  if (span.verdict != Verdict::kValid || judgement.empty) return judgement;
  const Wide begin = span.begin >> 3, end = (span.end + 7) >> 3;
  judgement.verdict = Verdict::kInvalid;
  if (!FitsInt64(begin) || !FitsInt64(end)) return judgement;
  // (Offsets of elements that share bytes count bits, and are rounded up to whole bytes.)
  const bool far = step % 8 != 0 && (!FitsInt64(span.begin) || !FitsInt64(span.end + 7));
  if (t.device.device_type != kDLCPU || !FitsInt64(end - begin) || far) {
    judgement.verdict = Verdict::kEither;
    return judgement;
  }
  const Wide origin = Wide{reinterpret_cast<uintptr_t>(t.data)} + t.byte_offset;
  const bool reached =
      t.data != nullptr && origin + begin >= 0 && origin + end <= Wide{UINTPTR_MAX};
  if (!reached) return judgement;
  judgement.verdict = Verdict::kValid;
  judgement.origin = static_cast<uintptr_t>(origin);
  judgement.lowest = static_cast<uintptr_t>(origin + begin);
  judgement.nbytes = static_cast<uint64_t>(end - begin);
  return judgement;
}

GivenDLPack DrawDLPack(Input& input, const GuardedMemory& memory) {
  GivenDLPack given;
  DLTensor& t = given.tensor;
  t.dtype = ToDLDataType(input.Pick(kAllDTypes));
  if (input.OneIn(8)) t.dtype.lanes = static_cast<uint16_t>(input.Between(0, 4));
  t.device = {kDLCPU, 0};
  given.flags = static_cast<uint64_t>(input.Between(0, 15)) & kFlags;
  DrawDims(input, &given);
  static int64_t present;  // the value is not used: Lend sets the pointers
  t.shape = &present;
  t.strides = given.strides.empty() ? nullptr : &present;
  if (input.OneIn(8)) t.byte_offset = input.Between(0, 64);

  // The elements begin at the first page or end at the last one.
  DLTensor measured = t;
  measured.shape = given.shape.data();
  measured.strides = given.strides.empty() ? nullptr : given.strides.data();
  measured.data = reinterpret_cast<void*>(uintptr_t{1} << 46);
  measured.byte_offset = 0;
  const Judgement reach = Judge(measured, given.flags, given.version);
  char* data = memory.begin();
  if (reach.verdict == Verdict::kValid && reach.nbytes <= static_cast<uint64_t>(memory.size())) {
    data = memory.At(input.OneIn(2), static_cast<int64_t>(reach.nbytes)) +
           (reach.origin - reach.lowest);
  }
  t.data = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(data) - t.byte_offset);

  // A fault, or what looks like one.
  if (!input.OneIn(4)) return given;
  switch (input.Between(0, 9)) {
    case 0:
      given.version = {static_cast<uint32_t>(input.Between(0, 3)), input.Any<uint32_t>()};
      break;
    case 1:
      given.flags = input.Any<uint64_t>();
      break;
    case 2:
      t.dtype = input.Any<DLDataType>();
      break;
    case 3:
      t.device = {static_cast<DLDeviceType>(input.Between(0, 20)), input.Any<int8_t>()};
      break;
    case 4:
      t.ndim = input.OneIn(2) ? input.Any<int32_t>() : static_cast<int32_t>(input.Between(-1, 66));
      given.shape.resize(std::clamp(t.ndim, 0, 64), 1);
      if (t.strides != nullptr) given.strides.resize(given.shape.size(), 1);
      break;
    case 5:
      t.data = nullptr;
      break;
    case 6:
      t.shape = nullptr;
      break;
    case 7:
      t.byte_offset = input.Any<uint64_t>();
      break;
    case 8:
      t.data = reinterpret_cast<void*>(input.Any<uintptr_t>());
      break;
    default:
      if (!given.shape.empty()) given.shape[0] = input.Number();
  }
  return given;
}

}  // namespace dovetail::fuzz
