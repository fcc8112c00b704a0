#include "dovetail/python/exchange/borrow/mismatch.h"

#include <bit>

#include "dovetail/core/device.h"

namespace dovetail::python {
namespace {

bool IsDevice(DLDevice device, int32_t wanted) {
  if (wanted == DOVETAIL_HOST_MEMORY) {
    return device.device_type == kDLCPU ||
           IsHostAccessible(static_cast<DeviceType>(device.device_type));
  }
  return wanted == DOVETAIL_ANY_DEVICE || device.device_type == wanted;
}

bool IsDType(DLDataType dtype, DLDataType wanted) {
  static_assert(sizeof(DLDataType) == sizeof(uint32_t));
  return wanted.bits == 0 || std::bit_cast<uint32_t>(dtype) == std::bit_cast<uint32_t>(wanted);
}

bool IsEmpty(const DLTensor& tensor) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] == 0) return true;
  }
  return false;
}

// Whether the dimensions first, first + step, … are contiguous, the first one innermost.
bool IsContiguous(const DLTensor& tensor, int32_t first, int32_t step) {
  int64_t stride = 1;
  for (int32_t i = first; i >= 0 && i < tensor.ndim; i += step) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != stride) return IsEmpty(tensor);
    stride *= tensor.shape[i];
  }
  return true;
}
bool IsCContiguous(const DLTensor& tensor) { return IsContiguous(tensor, tensor.ndim - 1, -1); }
bool IsFContiguous(const DLTensor& tensor) { return IsContiguous(tensor, 0, 1); }

bool IsInnerContiguous(const DLTensor& tensor) {
  const int32_t last = tensor.ndim - 1;
  return last < 0 || tensor.shape[last] <= 1 || tensor.strides[last] == 1 || IsEmpty(tensor);
}

Mismatch FindSizeMismatch(const DLTensor& tensor, const int64_t* wanted, DovetailCall* call) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (wanted[i] >= 0) {
      if (tensor.shape[i] != wanted[i]) return {Mismatch::kSize, i};
      continue;
    }
    if (wanted[i] == DOVETAIL_ANY_SIZE) continue;
    int32_t known = 0;
    while (known < call->num_sizes && call->sizes[known].name != wanted[i]) ++known;
    if (known < call->num_sizes) {
      if (call->sizes[known].size != tensor.shape[i]) return {Mismatch::kNamedSize, i, known};
    } else if (known == DOVETAIL_MAX_NAMED_SIZES) {
      return {Mismatch::kTooManyNames, i};
    } else {
      call->sizes[known] = {wanted[i], tensor.shape[i], call->position};
      ++call->num_sizes;
    }
  }
  return {};
}

Mismatch FindStrideMismatch(const DLTensor& tensor, const int64_t* wanted) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (wanted[i] != DOVETAIL_ANY_STRIDE && tensor.shape[i] > 1 && tensor.strides[i] != wanted[i]) {
      return {Mismatch::kStride, i};
    }
  }
  return {};
}

bool IsAligned(const DLTensor& tensor, uint32_t alignment) {
  return alignment <= 1 ||
         (reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset) % alignment == 0 ||
         IsEmpty(tensor);
}

}  // namespace

Mismatch FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                      DovetailCall* call) {
  const DLTensor& tensor = borrowed.tensor;
  if (!IsDevice(tensor.device, wanted.device_type)) return {Mismatch::kDevice};
  if (!IsDType(tensor.dtype, wanted.dtype)) return {Mismatch::kDType};
  const bool has_rank =
      wanted.shape != nullptr || wanted.strides != nullptr || (wanted.flags & DOVETAIL_NDIM) != 0;
  if (has_rank && tensor.ndim != wanted.ndim) return {Mismatch::kRank};
  if (wanted.shape != nullptr) {
    const Mismatch found = FindSizeMismatch(tensor, wanted.shape, call);
    if (found.kind != Mismatch::kNone) return found;
  }
  const uint32_t flags = wanted.flags;
  if ((flags & DOVETAIL_WRITABLE) != 0 && (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return {Mismatch::kReadOnly};
  }
  if ((flags & DOVETAIL_C_CONTIGUOUS) != 0 && !IsCContiguous(tensor)) {
    return {Mismatch::kCContiguous};
  }
  if ((flags & DOVETAIL_F_CONTIGUOUS) != 0 && !IsFContiguous(tensor)) {
    return {Mismatch::kFContiguous};
  }
  if ((flags & DOVETAIL_INNER_CONTIGUOUS) != 0 && !IsInnerContiguous(tensor)) {
    return {Mismatch::kInnerContiguous};
  }
  if (wanted.strides != nullptr) {
    const Mismatch found = FindStrideMismatch(tensor, wanted.strides);
    if (found.kind != Mismatch::kNone) return found;
  }
  if (!IsAligned(tensor, wanted.alignment)) return {Mismatch::kAlignment};
  return {};
}

}  // namespace dovetail::python
