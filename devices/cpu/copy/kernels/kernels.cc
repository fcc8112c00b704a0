#include "dovetail/devices/cpu/copy/kernels/kernels.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <optional>

#include "dovetail/devices/cpu/copy/kernels/elements.h"
#include "dovetail/devices/cpu/copy/kernels/kernels_internal.h"
#include "dovetail/devices/cpu/copy/kernels/rows.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace cpu {
namespace {

void CopyLines(char* dst, const char* src, int64_t lines) { std::memcpy(dst, src, lines * 64); }
void NothingToWaitFor() {}

#define DOVETAIL_ELEMENTS \
  {CopyElements<1>, CopyElements<2>, CopyElements<4>, CopyElements<8>, CopyElements<16>}
constexpr Kernels kPlainKernels = {
    .cached = {.rows = {CopyRows<1>, CopyRows<2>, CopyRows<4>, CopyRows<8>, CopyRows<16>},
               .fill = DOVETAIL_ELEMENTS,
               .transpose = DOVETAIL_ELEMENTS},
    .permute = nullptr,
    .stream_transpose = {},
    .join_rows = nullptr,
    .stream = CopyLines,
    .stream_done = NothingToWaitFor,
};
#undef DOVETAIL_ELEMENTS

const Kernels* CompiledKernels(SimdLevel level) {
  if (level == SimdLevel::kNone) return &kPlainKernels;
#if defined(__x86_64__)
  return X86Kernels(level);
#elif defined(__aarch64__)
  return NeonKernels();
#else
  return nullptr;
#endif
}

}  // namespace

const Kernels* KernelsOf(SimdLevel level) {
  static const auto on_this_processor = [] {
    std::array<std::optional<Kernels>, std::size(kAllSimdLevels)> all;
    for (SimdLevel each : kAllSimdLevels) {
      if (!HasSimdLevel(each)) continue;
      std::optional<Kernels>& kernels = all[static_cast<size_t>(each)];
      kernels = *CompiledKernels(each);
      kernels->tuning = TuningOfThisProcessor();
    }
    return all;
  }();
  const std::optional<Kernels>& kernels = on_this_processor[static_cast<size_t>(level)];
  return kernels.has_value() ? &*kernels : nullptr;
}

}  // namespace cpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail
