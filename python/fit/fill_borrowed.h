// Fills a DovetailBorrowed with what another library says of its tensor, which passes the checks of
// an import (parse.h): no function sees a tensor that a Tensor could not be. C++17, without Python.

#ifndef DOVETAIL_PYTHON_FIT_FILL_BORROWED_H_
#define DOVETAIL_PYTHON_FIT_FILL_BORROWED_H_

#include <cstdint>
#include <cstring>

#include "dlpack/dlpack.h"
#include "dovetail/interop/dlpack/parse.h"
#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_fit {

// Writes shape and strides into a borrowed tensor, for Parse(). They are copied: an object may free
// its own while it lives, as `array.shape = …` does in NumPy.
struct BorrowedDims {
  static constexpr bool kKeeps = true;
  DovetailBorrowed* borrowed;

  void Begin(int32_t, int64_t** shape, int64_t** strides) {
    *shape = borrowed->shape;
    *strides = borrowed->strides;
  }
  void Finish(int32_t, int64_t) {}
  void Abandon(int32_t) {}
};

[[gnu::always_inline]] inline uint32_t InRegister(uint32_t x) {
  asm("" : "+r"(x));
  return x;
}
// Copies a type that another library may just have written member by member, and that is read as
// one word later. (The processor stalls on a load of several bytes that were stored one by one.)
[[gnu::always_inline]] inline void CopyType(const DLDataType& from, DLDataType* to) {
  static_assert(sizeof(from) == sizeof(uint32_t));
  const uint32_t code = from.code, bits = InRegister(from.bits), lanes = InRegister(from.lanes);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  const uint32_t whole = InRegister(code | bits << 8 | lanes << 16);
#else
  const uint32_t whole = InRegister(code << 24 | bits << 16 | lanes);
#endif
  std::memcpy(to, &whole, sizeof(whole));
}

// Fills in all but the numbers in `borrowed`'s shape and strides, which are there.
[[gnu::always_inline]] inline void SetBorrowed(const DLTensor& lent, void* data, DLDevice device,
                                               uint64_t byte_offset, uint64_t flags,
                                               DovetailBorrowed* borrowed) {
  DLTensor& tensor = borrowed->tensor;
  tensor.data = data;
  tensor.device = device;
  tensor.ndim = lent.ndim;
  CopyType(lent.dtype, &tensor.dtype);
  tensor.shape = borrowed->shape;
  tensor.strides = borrowed->strides;
  tensor.byte_offset = byte_offset;
  borrowed->flags = flags;
  borrowed->stream = nullptr;
  borrowed->held = nullptr;
}

// Strides may be NULL: row-major. False for what an import refuses; `borrowed` is then unspecified.
[[gnu::always_inline]] inline bool FillBorrowed(const DLTensor& lent, uint64_t flags,
                                                DovetailBorrowed* borrowed) {
  ParsedTensor parsed;
  if (__builtin_expect(Parse(lent, flags, BorrowedDims{borrowed}, &parsed) != Defect::kNone, 0)) {
    return false;
  }
  // Element 0 is at `data` where that is an address.
  const bool has_address = parsed.device.device_type == kDLCPU ||
                           internal_dlpack::FactsOf(parsed.device.device_type).addressable;
  void* const data =
      has_address ? static_cast<char*>(parsed.data) + parsed.byte_offset : parsed.data;
  SetBorrowed(lent, data, parsed.device,
              has_address ? 0 : static_cast<uint64_t>(parsed.byte_offset), flags, borrowed);
  return true;
}

// The same for nearly all tensors of XLA. False for others, and `borrowed` is then unspecified.
inline bool FillRowMajor(const DLTensor& lent, DovetailBorrowed* borrowed) {
  if (!ParseRowMajor(lent, borrowed->shape, borrowed->strides)) return false;
  SetBorrowed(lent, lent.data, lent.device, 0, 0, borrowed);
  return true;
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_FILL_BORROWED_H_
