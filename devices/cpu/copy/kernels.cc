#include "dovetail/devices/cpu/copy/kernels.h"

#include <cstring>

#include "dovetail/devices/cpu/copy/elements.h"
#include "dovetail/devices/cpu/copy/kernels_internal.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace cpu {
namespace {

void CopyLines(char* dst, const char* src, int64_t lines) { std::memcpy(dst, src, lines * 64); }
void NothingToWaitFor() {}

constexpr Kernels kPlainKernels = {
    .transpose = {CopyElements<1>, CopyElements<2>, CopyElements<4>, CopyElements<8>,
                  CopyElements<16>},
    .transpose_lines = {},
    .take_apart = {CopyElements<1>, CopyElements<2>, CopyElements<4>, CopyElements<8>,
                   CopyElements<16>},
    .put_together = {CopyElements<1>, CopyElements<2>, CopyElements<4>, CopyElements<8>,
                     CopyElements<16>},
    .stream = CopyLines,
    .stream_done = NothingToWaitFor,
};

}  // namespace

const Kernels* KernelsOf(SimdLevel level) {
  if (!HasSimdLevel(level)) return nullptr;
  if (level == SimdLevel::kNone) return &kPlainKernels;
#if defined(__x86_64__)
  return X86Kernels(level);
#elif defined(__aarch64__)
  return NeonKernels();
#else
  return nullptr;
#endif
}

}  // namespace cpu
}  // namespace dovetail::inline DOVETAIL_ABI
