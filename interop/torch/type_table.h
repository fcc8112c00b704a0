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

#include <optional>

#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/pair_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_torch {

using TorchScalarType = torch::headeronly::ScalarType;
using TorchDeviceType = torch::headeronly::DeviceType;

struct TypePair {
  TorchScalarType torch;
  DType core;
};
struct DevicePair {
  TorchDeviceType torch;
  DeviceType core;
};

DOVETAIL_NOT_SHARED inline constexpr TypePair kTypes[] = {
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
DOVETAIL_NOT_SHARED inline constexpr DevicePair kDevices[] = {
    {TorchDeviceType::CPU, DeviceType::kCpu},
#ifdef USE_ROCM
    {TorchDeviceType::CUDA, DeviceType::kRocm},
#else
    {TorchDeviceType::CUDA, DeviceType::kCuda},
#endif
};

static_assert(internal_interop::IsBijection(kTypes, &TypePair::torch, &TypePair::core));
static_assert(internal_interop::IsBijection(kDevices, &DevicePair::torch, &DevicePair::core));

constexpr std::optional<TorchScalarType> ToTorchType(DType dtype) {
  return internal_interop::Find(kTypes, &TypePair::core, dtype, &TypePair::torch);
}
constexpr std::optional<DType> FromTorchType(TorchScalarType type) {
  return internal_interop::Find(kTypes, &TypePair::torch, type, &TypePair::core);
}
// To PyTorch, pinned and managed memory is memory of the CPU.
constexpr std::optional<TorchDeviceType> ToTorchDevice(DeviceType type) {
  const DeviceType core = IsHostAccessible(type) ? DeviceType::kCpu : type;
  return internal_interop::Find(kDevices, &DevicePair::core, core, &DevicePair::torch);
}
constexpr std::optional<DeviceType> FromTorchDevice(TorchDeviceType type) {
  return internal_interop::Find(kDevices, &DevicePair::torch, type, &DevicePair::core);
}

}  // namespace internal_torch
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_TORCH_TYPE_TABLE_H_
