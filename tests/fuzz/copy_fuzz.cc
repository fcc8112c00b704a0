// Copies and casts between strided views of any shape, strides, type, packing, place and overlap,
// by any number of threads and the instructions of any level, against a plain loop. Bytes that are
// no element of the destination keep their values, and pages on both sides can't be touched.

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/parallel.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/plain_cast.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr int64_t kArena = 1 << 21;
constexpr int64_t kMostElements = 2000;
constexpr int64_t kManyElements = 300000;  // enough for several threads

struct Arenas {
  Arenas() { Require(RegisterCpuBackend(Registry::Global()).ok(), "the CPU has a backend"); }
  GuardedMemory first{kArena}, second{kArena};
};
const Arenas& TheArenas() {
  static const Arenas* const arenas = new Arenas;
  return *arenas;
}

// One side of a copy.
struct Side {
  DType dtype;
  Packing packing = Packing::kPacked;
  std::vector<int64_t> strides;
  int64_t begin = 0, end = 0;  // bytes that it reaches, from element 0
  char* origin = nullptr;

  int64_t step() const { return StepBits(dtype, packing); }
  DType lane() const { return {dtype.kind, dtype.bits, 1}; }
  Tensor Make(const std::vector<int64_t>& shape) const {
    const StorageRef storage =
        Storage::Adopt(origin + begin, static_cast<size_t>(end - begin), Device::Cpu(), {});
    absl::StatusOr<Tensor> made = Tensor::Make(
        storage, -begin, dtype, *Layout::Strided(shape, strides), {.packing = packing});
    Require(made.ok(), "a view of the arena is a tensor", made.status());
    return *std::move(made);
  }
};

// Dense, with gaps, permuted, reversed; a source may repeat and overlap itself.
void DrawStrides(Input& input, const std::vector<int64_t>& shape, bool is_source, Side* side) {
  const size_t rank = shape.size();
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  if (input.OneIn(2)) {
    for (size_t i = rank; i > 1; --i) {
      std::swap(order[i - 1], order[input.Between(0, static_cast<int64_t>(i) - 1)]);
    }
  }
  side->strides.resize(rank);
  int64_t step = input.OneIn(3) ? input.Between(1, 5) : 1;
  int64_t lowest = 0, highest = 0;
  for (size_t dim : order) {
    int64_t stride = input.OneIn(4) ? -step : step;
    if (is_source && input.OneIn(6)) stride = input.OneIn(2) ? 0 : input.Between(-4, 4);
    side->strides[dim] = stride;
    if (shape[dim] > 1) (stride < 0 ? lowest : highest) += stride * (shape[dim] - 1);
    step = step * std::max<int64_t>(shape[dim], 1) + (input.OneIn(3) ? input.Between(0, 9) : 0);
  }
  side->begin = lowest * side->step() >> 3;
  side->end = (highest * side->step() + side->step() + 7) >> 3;
}

std::vector<int64_t> DrawShape(Input& input, bool many) {
  std::vector<int64_t> shape(input.Between(0, 5));
  int64_t left = many ? kManyElements : kMostElements;
  for (int64_t& size : shape) {
    size = input.OneIn(2) ? input.Between(1, 300) : input.Between(0, 9);
    if (many && input.OneIn(3)) size = input.Between(1, 60000);
    size = std::min(size, left);
    left /= std::max<int64_t>(size, 1);
  }
  return shape;
}

// Calls each(bit of dst, bit of src) for each lane of each element.
template <typename Each>
void ForEachLane(const std::vector<int64_t>& shape, const Side& dst, const Side& src, Each each) {
  std::vector<int64_t> index(shape.size());
  for (int64_t size : shape) {
    if (size == 0) return;
  }
  while (true) {
    int64_t to = 0, from = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      to += index[dim] * dst.strides[dim] * dst.step();
      from += index[dim] * src.strides[dim] * src.step();
    }
    for (int lane = 0; lane < dst.dtype.lanes; ++lane) {
      each(to + lane * dst.dtype.bits, from + lane * src.dtype.bits);
    }
    size_t dim = shape.size();
    while (dim > 0 && ++index[dim - 1] == shape[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

// What a cast of one element by instructions of every processor makes, and those of `level`.
Element CastBy(SimdLevel level, const Element& element, DType from, DType to) {
  const std::optional<CastPath> path = CastPath::Find(from, to, level);
  Require(path.has_value(), "there is a path for each cast", from, to);
  Element result = {};
  path->Run(element.data(), result.data(), 1);
  return result;
}

void Fill(Input& input, char* memory, int64_t size) {
  auto state = input.Any<uint32_t>() | 1u;
  const bool small = input.OneIn(4);  // small numbers
  for (int64_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    memory[i] = static_cast<char>(small ? (state >> 24) % 3 : state >> 24);
  }
}

// Copies by kernels of one level, as the CPU backend does after it has planned.
bool CopyByWay(Input& input, const Tensor& dst, const Tensor& src) {
  cpu::CopyPlan plan;
  if (!PlanStridedCopy(dst.view(), src.view(), &plan)) return false;
  const std::vector<cpu::Way>& ways = cpu::AllWays();
  const cpu::Way& way = ways[input.Between(0, static_cast<int64_t>(ways.size()) - 1)];
  cpu::Execute(
      plan, dst.raw_data(), src.raw_data(),
      {.kernels = &way.kernels, .stream_from = way.stream_from, .memory_from = way.memory_from});
  return true;
}

void Try(Input& input) {
  Side dst, src;
  src.dtype = input.Pick(kAllDTypes);
  dst.dtype = input.OneIn(2) ? input.Pick(kAllDTypes) : src.dtype;
  if (input.OneIn(8) && src.dtype.bits % 8 == 0 && dst.dtype.bits % 8 == 0) {
    dst.dtype.lanes = src.dtype.lanes = static_cast<uint16_t>(input.Between(1, 4));
  }
  dst.packing = input.OneIn(2) ? Packing::kPadded : Packing::kPacked;
  src.packing = input.OneIn(2) ? Packing::kPadded : Packing::kPacked;
  const bool many = input.OneIn(200);
  Require(SetNumThreads(many ? input.Between(1, 5) : 1).ok(), "a number of threads is set");
  const std::vector<int64_t> shape = DrawShape(input, many);
  DrawStrides(input, shape, /*is_source=*/false, &dst);
  DrawStrides(input, shape, /*is_source=*/true, &src);
  const int64_t dst_bytes = dst.end - dst.begin, src_bytes = src.end - src.begin;
  if (dst_bytes > kArena || src_bytes > kArena) return;

  // dst is at an end of its arena; src at an end of the other one, or near dst.
  const GuardedMemory& arena = TheArenas().first;
  const bool at_end = input.OneIn(2), overlap = input.OneIn(3);
  dst.origin = arena.At(at_end, dst_bytes) - dst.begin;
  const GuardedMemory& other = overlap ? arena : TheArenas().second;
  char* src_lowest = other.At(input.OneIn(2), src_bytes);
  if (overlap) {
    const int64_t most = std::min<int64_t>(kArena - src_bytes, 2 * dst_bytes + 8);
    const int64_t away = std::min<int64_t>(input.Between(0, 65535), most);
    src_lowest = at_end ? arena.At(true, src_bytes) - away : arena.begin() + away;
  }
  src.origin = src_lowest - src.begin;
  Fill(input, src_lowest, src_bytes);
  char* const dst_lowest = dst.origin + dst.begin;
  Fill(input, dst_lowest, dst_bytes);

  const std::string src_before(src_lowest, src_bytes);
  std::string expected(dst_lowest, dst_bytes);
  const std::string dst_before = expected;
  Tensor to = dst.Make(shape);
  const Tensor from = src.Make(shape);
  const bool same = src.dtype == dst.dtype;
  absl::Status status;
  if (!same || overlap || dst.dtype.is_sub_byte() || input.OneIn(2) ||
      !CopyByWay(input, to, from)) {
    status = CopyInto(to, from);
  }
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status) && !same, "only a cast is refused", status);
    Require(!CastPath::Find(src.lane(), dst.lane()).has_value(), "a cast that exists is made", from,
            to);
    Require(std::string(dst_lowest, dst_bytes) == dst_before, "a refusal writes nothing");
    return;
  }

  // The plain loop.
  const bool masked = dst.dtype.is_sub_byte() && dst.packing == Packing::kPadded;
  std::string seen(dst_lowest, dst_bytes);
  char* const want = expected.data() - dst.begin;
  char* const got = seen.data() - dst.begin;
  const SimdLevel level = input.Pick(kAllSimdLevels);
  ForEachLane(shape, dst, src, [&](int64_t to_bit, int64_t from_bit) {
    const Element element = ElementAt(src_before.data() - src.begin, from_bit, src.lane());
    const Element result = ElementAt(got, to_bit, dst.lane());
    std::optional<Element> cast = PlainCast(element, src.lane(), dst.lane());
    if (!cast.has_value()) cast = CastBy(SimdLevel::kNone, element, src.lane(), dst.lane());
    Require(SameValue(*cast, result, dst.lane()), "a copy is what the plain loop makes", from, to,
            "element at bit", to_bit, "code", ElementHex(element), ElementHex(*cast),
            ElementHex(result));
    if (!same && !many && HasSimdLevel(level)) {
      Require(SameValue(*cast, CastBy(level, element, src.lane(), dst.lane()), dst.lane()),
              "each level makes the same", from, to, static_cast<int>(level));
    }
    PutElement(want, to_bit, dst.lane(), result);
    // (The bits beside an element that has a byte of its own mean nothing.)
    if (masked) want[to_bit >> 3] = got[to_bit >> 3];
  });
  Require(seen == expected, "nothing is written beside the elements", from, to);
  if (!overlap) {
    Require(std::string(src_lowest, src_bytes) == src_before, "the source is not written", from);
  }
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  dovetail::fuzz::Try(input);
  return 0;
}
