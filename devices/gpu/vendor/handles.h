// Casts between RuntimeApi's handles and a vendor's, and the copying of IPC handles.
//
//   ToStream<CudaVendor>(stream)                   // CUstream
//   ToAddress<CudaVendor>(ptr)                     // CUdeviceptr, a number; hipDeviceptr_t, a
//   pointer FromIpcHandle<CUipcMemHandle>(handle)

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_HANDLES_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_HANDLES_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "dovetail/core/config.h"
#include "dovetail/devices/gpu/runtime/runtime_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace gpu {

template <typename Vendor>
typename Vendor::Address ToAddress(const void* ptr) {
  if constexpr (std::is_pointer_v<typename Vendor::Address>) {
    return const_cast<void*>(ptr);
  } else {
    return reinterpret_cast<typename Vendor::Address>(ptr);
  }
}
template <typename Address>
void* ToPointer(Address address) {
  if constexpr (std::is_pointer_v<Address>) {
    return address;
  } else {
    return reinterpret_cast<void*>(address);
  }
}

template <typename Vendor>
typename Vendor::Stream ToStream(NativeStream stream) {
  return reinterpret_cast<typename Vendor::Stream>(static_cast<uintptr_t>(stream));
}
template <typename Stream>
NativeStream FromStream(Stream stream) {
  return NativeStream{reinterpret_cast<uintptr_t>(stream)};
}

template <typename Vendor>
typename Vendor::Event ToEvent(NativeEvent event) {
  return static_cast<typename Vendor::Event>(event);
}

// `Handle` is the vendor's struct of an IPC handle, kIpcHandleSize bytes.
template <typename Handle>
Handle FromIpcHandle(const IpcHandle& handle) {
  static_assert(sizeof(Handle) == kIpcHandleSize);
  Handle vendors;
  std::memcpy(&vendors, handle.bytes, kIpcHandleSize);
  return vendors;
}
template <typename Handle>
void ToIpcHandle(const Handle& vendors, IpcHandle* handle) {
  static_assert(sizeof(Handle) == kIpcHandleSize);
  std::memcpy(handle->bytes, &vendors, kIpcHandleSize);
}

}  // namespace gpu
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_HANDLES_H_
