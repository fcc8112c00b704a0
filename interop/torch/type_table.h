// Converts between PyTorch's ScalarType and DType, and between their device types. One table each
// serves both directions.
//
//   std::optional<TorchScalarType> type = ToTorchType(kBFloat16);
//   std::optional<DType> dtype = FromTorchType(TorchScalarType::Half);        // kFloat16
//
// Includes only PyTorch's headers without compiled parts (PyTorch 2.9 and later).

#ifndef DOVETAIL_INTEROP_TORCH_TYPE_TABLE_H_
#define DOVETAIL_INTEROP_TORCH_TYPE_TABLE_H_

#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/ScalarType.h>

#include <iterator>
#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_torch {

using TorchScalarType = torch::headeronly::ScalarType;
using TorchDeviceType = torch::headeronly::DeviceType;

template <typename Theirs, typename Ours>
struct Pair {
  Theirs theirs;
  Ours ours;
};

DOVETAIL_NOT_SHARED inline constexpr Pair<TorchScalarType, DType> kTypes[] = {
    {TorchScalarType::Byte, kUInt8},
    {TorchScalarType::Char, kInt8},
    {TorchScalarType::Short, kInt16},
    {TorchScalarType::Int, kInt32},
    {TorchScalarType::Long, kInt64},
    {TorchScalarType::UInt16, kUInt16},
    {TorchScalarType::UInt32, kUInt32},
    {TorchScalarType::UInt64, kUInt64},
    {TorchScalarType::Half, kFloat16},
    {TorchScalarType::BFloat16, kBFloat16},
    {TorchScalarType::Float, kFloat32},
    {TorchScalarType::Double, kFloat64},
    {TorchScalarType::ComplexHalf, kComplex32},
    {TorchScalarType::ComplexFloat, kComplex64},
    {TorchScalarType::ComplexDouble, kComplex128},
    {TorchScalarType::Bool, kBool},
    {TorchScalarType::Float8_e5m2, kFloat8E5M2},
    {TorchScalarType::Float8_e4m3fn, kFloat8E4M3Fn},
    {TorchScalarType::Float8_e5m2fnuz, kFloat8E5M2Fnuz},
    {TorchScalarType::Float8_e4m3fnuz, kFloat8E4M3Fnuz},
    {TorchScalarType::Float8_e8m0fnu, kFloat8E8M0Fnu},
    {TorchScalarType::Float4_e2m1fn_x2, {TypeKind::kFloat4E2M1Fn, 4, 2}},
};

// A PyTorch that is built for ROCm calls AMD's devices CUDA; the build then defines USE_ROCM.
DOVETAIL_NOT_SHARED inline constexpr Pair<TorchDeviceType, DeviceType> kDevices[] = {
    {TorchDeviceType::CPU, DeviceType::kCpu},
#ifdef USE_ROCM
    {TorchDeviceType::CUDA, DeviceType::kRocm},
#else
    {TorchDeviceType::CUDA, DeviceType::kCuda},
#endif
};

template <typename Table>
constexpr bool IsBijection(const Table& table) {
  for (const auto& a : table) {
    for (const auto& b : table) {
      if (&a != &b && (a.theirs == b.theirs || a.ours == b.ours)) return false;
    }
  }
  return true;
}
static_assert(IsBijection(kTypes) && IsBijection(kDevices));

template <typename Table, typename Ours>
constexpr auto ToTheirs(const Table& table, Ours ours)
    -> std::optional<decltype(std::begin(table)->theirs)> {
  for (const auto& pair : table) {
    if (pair.ours == ours) return pair.theirs;
  }
  return std::nullopt;
}

template <typename Table, typename Theirs>
constexpr auto ToOurs(const Table& table, Theirs theirs)
    -> std::optional<decltype(std::begin(table)->ours)> {
  for (const auto& pair : table) {
    if (pair.theirs == theirs) return pair.ours;
  }
  return std::nullopt;
}

constexpr std::optional<TorchScalarType> ToTorchType(DType dtype) {
  return ToTheirs(kTypes, dtype);
}
constexpr std::optional<DType> FromTorchType(TorchScalarType type) { return ToOurs(kTypes, type); }
// To PyTorch, pinned and managed memory is memory of the CPU.
constexpr std::optional<TorchDeviceType> ToTorchDevice(DeviceType type) {
  return ToTheirs(kDevices, IsHostAccessible(type) ? DeviceType::kCpu : type);
}
constexpr std::optional<DeviceType> FromTorchDevice(TorchDeviceType type) {
  return ToOurs(kDevices, type);
}

}  // namespace internal_torch
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_TYPE_TABLE_H_
