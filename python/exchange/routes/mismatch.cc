#include "dovetail/python/exchange/routes/mismatch.h"

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

// The size of dimension i, whose name is `name`.
Mismatch CheckNamedSize(int64_t size, int64_t name, DovetailCall* call) {
  const int32_t known = FindNamedSize(*call, name);
  if (known < call->num_sizes) {
    return call->sizes[known].size == size ? Mismatch::kNone : Mismatch::kNamedSize;
  }
  if (known == DOVETAIL_MAX_NAMED_SIZES) return Mismatch::kTooManyNames;
  call->sizes[known] = {name, size, call->position};
  ++call->num_sizes;
  return Mismatch::kNone;
}

inline Mismatch CheckSizes(const DLTensor& tensor, const int64_t* wanted, DovetailCall* call,
                           int32_t* dimension) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    if (wanted[i] == tensor.shape[i] || wanted[i] == DOVETAIL_ANY_SIZE) continue;
    *dimension = i;
    if (wanted[i] >= 0) return Mismatch::kSize;
    const Mismatch found = CheckNamedSize(tensor.shape[i], wanted[i], call);
    if (found != Mismatch::kNone) return found;
  }
  return Mismatch::kNone;
}

bool HasStrides(const DLTensor& tensor, const int64_t* wanted, int32_t* dimension) {
  for (int32_t i = 0; i < tensor.ndim; ++i) {
    *dimension = i;
    if (wanted[i] != DOVETAIL_ANY_STRIDE && tensor.shape[i] > 1 && tensor.strides[i] != wanted[i]) {
      return false;
    }
  }
  return true;
}

bool IsAligned(const DLTensor& tensor, uint32_t alignment) {
  return alignment <= 1 ||
         ((reinterpret_cast<uintptr_t>(tensor.data) + tensor.byte_offset) & (alignment - 1)) == 0 ||
         IsEmpty(tensor);
}

}  // namespace

Mismatch FindMismatch(const DovetailBorrowed& borrowed, const DovetailRequirements& wanted,
                      DovetailCall* call, int32_t* dimension) {
  const DLTensor& tensor = borrowed.tensor;
  const uint32_t flags = wanted.flags;
  if (!IsDevice(tensor.device, wanted.device_type)) return Mismatch::kDevice;
  if (!IsDType(tensor.dtype, wanted.dtype)) return Mismatch::kDType;
  if (tensor.ndim != wanted.ndim &&
      (wanted.shape != nullptr || wanted.strides != nullptr || (flags & DOVETAIL_NDIM) != 0)) {
    return Mismatch::kRank;
  }
  if (wanted.shape != nullptr) {
    const Mismatch found = CheckSizes(tensor, wanted.shape, call, dimension);
    if (found != Mismatch::kNone) return found;
  }
  if ((flags & DOVETAIL_WRITABLE) != 0 && (borrowed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0) {
    return Mismatch::kReadOnly;
  }
  if ((flags & DOVETAIL_C_CONTIGUOUS) != 0 && !IsCContiguous(tensor)) return Mismatch::kCContiguous;
  if ((flags & DOVETAIL_F_CONTIGUOUS) != 0 && !IsFContiguous(tensor)) return Mismatch::kFContiguous;
  if ((flags & DOVETAIL_INNER_CONTIGUOUS) != 0 && !IsInnerContiguous(tensor)) {
    return Mismatch::kInnerContiguous;
  }
  if (wanted.strides != nullptr && !HasStrides(tensor, wanted.strides, dimension)) {
    return Mismatch::kStride;
  }
  return IsAligned(tensor, wanted.alignment) ? Mismatch::kNone : Mismatch::kAlignment;
}

}  // namespace dovetail::python
