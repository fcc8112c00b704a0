// Copies and casts between strided views of any shape, strides, type, packing, place and overlap,
// by any number of threads and the instructions of any level, against a plain loop. Bytes that are
// no element of the destination keep their values, and pages on both sides can't be touched. Copies
// that are large enough for several threads are compared with those of one thread.

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/threads/parallel.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/tensor.h"
#include "dovetail/core/testing/guarded_memory.h"
#include "dovetail/devices/cpu/backend.h"
#include "dovetail/devices/cpu/cast/path.h"
#include "dovetail/devices/cpu/copy/execute.h"
#include "dovetail/devices/cpu/copy/strided_copy.h"
#include "dovetail/devices/cpu/copy/testing/copy_case.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/noise.h"
#include "dovetail/tests/fuzz/plain_cast.h"
#include "dovetail/tests/fuzz/plain_copy.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

constexpr int64_t kArena = 1 << 23;
constexpr int64_t kMostBytes = 1 << 16;  // from the lowest to the highest element, as a rule
constexpr int64_t kFewElements = 120;
constexpr int64_t kMostElements = 1500;
// Enough for several threads (devices/cpu/large_work.h).
constexpr int64_t kManyBytes = 5 << 19;
constexpr int64_t kLeastItemOfMany = 8;  // more elements would take too long

struct Arenas {
  Arenas() { Require(RegisterCpuBackend(Registry::Global()).ok(), "the CPU has a backend"); }
  GuardedMemory first{kArena}, second{kArena};
  // Copies of the arenas. Each input uses them again, which is faster than allocating new ones.
  std::string src_before, expected, seen;
};
Arenas& TheArenas() {
  static Arenas* const arenas = new Arenas;
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
  PlainSide At(char* lowest) const { return {lowest - begin, dtype, step(), strides}; }
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

std::vector<int64_t> DrawShape(Input& input, int64_t most) {
  std::vector<int64_t> shape(input.Between(0, 5));
  int64_t left = most;
  for (int64_t& size : shape) {
    size = input.OneIn(2) ? input.Between(1, 300) : input.Between(0, 9);
    if (most > kMostElements && input.OneIn(3)) size = most / input.Between(1, 4);
    size = std::min(size, left);
    left /= std::max<int64_t>(size, 1);
  }
  return shape;
}

// A cast of one element by the kernels of one level.
Element CastBy(const std::optional<CastPath>& path, const Element& element) {
  Require(path.has_value(), "there is a path for each cast");
  Element result = {};
  path->Run(element.data(), result.data(), 1);
  return result;
}

// Different bytes for each `place`, even if the input has ended.
void Fill(Input& input, uint32_t place, char* memory, int64_t size) {
  const uint32_t seed = input.Any<uint32_t>() + 31337 * place;
  FillWithNoise(seed, /*small=*/input.OneIn(4), memory, size);
}

// Copies by kernels of one level, as the CPU backend does after it has planned.
bool CopyByWay(Input& input, const Tensor& dst, const Tensor& src) {
  cpu::CopyPlan plan;
  if (!PlanStridedCopy(dst.view(), src.view(), &plan)) return false;
  const std::vector<cpu::Way>& ways = cpu::AllWays();
  const cpu::Way& way = ways[input.Between(0, static_cast<int64_t>(ways.size()) - 1)];
  cpu::Execute(plan, dst.raw_data(), src.raw_data(),
               {.kernels = &way.kernels, .stream_from = way.stream_from});
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
  // Most inputs are small: more of them are tried.
  const int64_t scale = input.Between(0, 199);
  const int64_t itemsize = std::max(src.dtype.itemsize(), dst.dtype.itemsize());
  const bool many = scale == 199 && itemsize >= kLeastItemOfMany;
  const int64_t most = many ? kManyBytes / itemsize : scale < 150 ? kFewElements : kMostElements;
  Require(SetNumThreads(many ? input.Between(2, 5) : 1).ok(), "a number of threads is set");
  const std::vector<int64_t> shape = DrawShape(input, most);
  DrawStrides(input, shape, /*is_source=*/false, &dst);
  DrawStrides(input, shape, /*is_source=*/true, &src);
  const int64_t dst_bytes = dst.end - dst.begin, src_bytes = src.end - src.begin;
  if (std::max(dst_bytes, src_bytes) > (many ? kArena : kMostBytes)) return;

  // dst is at an end of its arena; src at an end of the other one, or near dst.
  const GuardedMemory& arena = TheArenas().first;
  const bool at_end = input.OneIn(2), overlap = input.OneIn(3);
  dst.origin = arena.At(at_end, dst_bytes) - dst.begin;
  const GuardedMemory& other = overlap ? arena : TheArenas().second;
  char* src_lowest = other.At(input.OneIn(2), src_bytes);
  if (overlap) {
    const int64_t farthest = std::min<int64_t>(kArena - src_bytes, 2 * dst_bytes + 8);
    const int64_t away = std::min<int64_t>(input.Between(0, 65535), farthest);
    src_lowest = at_end ? arena.At(true, src_bytes) - away : arena.begin() + away;
  }
  src.origin = src_lowest - src.begin;
  Fill(input, 0, src_lowest, src_bytes);
  char* const dst_lowest = dst.origin + dst.begin;
  Fill(input, 1, dst_lowest, dst_bytes);

  auto& [first, second, src_before, expected, seen] = TheArenas();
  src_before.assign(src_lowest, src_bytes);
  expected.assign(dst_lowest, dst_bytes);
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
    Require(std::string_view(dst_lowest, dst_bytes) == expected, "a refusal writes nothing");
    return;
  }

  seen.assign(dst_lowest, dst_bytes);
  if (!overlap) {
    Require(std::string_view(src_lowest, src_bytes) == src_before, "the source is not written",
            from);
  }
  if (many) {
    // dst first: where both overlap, both had the same bytes.
    std::memcpy(dst_lowest, expected.data(), dst_bytes);
    std::memcpy(src_lowest, src_before.data(), src_bytes);
    Require(SetNumThreads(1).ok() && CopyInto(to, from).ok(), "one thread copies, too");
    Require(std::string_view(dst_lowest, dst_bytes) == seen,
            "several threads make what one thread makes", from, to);
    return;
  }
  const SimdLevel level = input.Pick(kAllSimdLevels);
  int64_t left_by_level = HasSimdLevel(level) ? kFewElements : 0;
  std::optional<CastPath> base_path, level_path;
  if (!same) base_path = CastPath::Find(src.lane(), dst.lane(), SimdLevel::kNone);
  if (!same && left_by_level > 0) level_path = CastPath::Find(src.lane(), dst.lane(), level);
  const auto cast = [&](const Element& element) {
    std::optional<Element> result = PlainCast(element, src.lane(), dst.lane());
    if (!result.has_value()) result = CastBy(base_path, element);
    if (left_by_level-- > 0) {
      Require(SameValue(*result, CastBy(level_path, element), dst.lane()),
              "each level makes the same", from, to, static_cast<int>(level));
    }
    return *result;
  };
  const std::optional<Difference> difference =
      ComparePlainly(shape, src.At(src_before.data()), dst.At(seen.data()),
                     expected.data() - dst.begin, same ? nullptr : CastFunction(cast));
  if (difference.has_value()) {
    Require(false, "a copy is what the plain loop makes", from, to, difference->ToString());
  }
  Require(seen == expected, "nothing is written beside the elements", from, to);
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  dovetail::fuzz::Try(input);
  return 0;
}
