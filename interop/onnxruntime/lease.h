// Lease: what keeps a tensor's memory alive behind an Ort::Value.
//
//   absl::StatusOr<Ort::Value> value = LeaseOut(tensor, type);
//
// An Ort::Value over memory of the user does not own it, but one that it took from an OrtAllocator
// gives it back to that allocator. A Lease is an allocator that has one block, the tensor's memory,
// and that deletes itself when it gets the block back. ONNX Runtime does not use the allocator
// after that (export_test.cc checks it). Every version of the C API has what this needs. The block
// may come back on any thread.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_LEASE_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_LEASE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/onnxruntime/device_table.h"
#include "dovetail/interop/onnxruntime/status.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

class Lease : public OrtAllocator {
 public:
  // `*is_lent` becomes true when the block is lent. The Lease then belongs to its borrower.
  Lease(const Tensor& tensor, const OrtMemoryInfo* info, OwnedMemoryInfo owned_info, bool* is_lent)
      : OrtAllocator(),  // no function but those below
        storage_(tensor.storage()),
        data_(tensor.raw_data()),
        nbytes_(static_cast<size_t>(tensor.nbytes())),
        info_(info),
        owned_info_(std::move(owned_info)),
        is_lent_(is_lent) {
    version = ORT_API_VERSION;
    Alloc = &Lease::Lend;
    Free = &Lease::TakeBack;
    Info = &Lease::InfoOf;
  }

  static void* operator new(size_t) { return AllocateBlock<sizeof(Lease)>(); }
  static void operator delete(void* block) { FreeBlock<sizeof(Lease)>(block); }

 private:
  static void* ORT_API_CALL Lend(OrtAllocator* self, size_t nbytes) noexcept {
    auto* lease = static_cast<Lease*>(self);
    if (lease->is_lent_ == nullptr || nbytes > lease->nbytes_) return nullptr;
    *std::exchange(lease->is_lent_, nullptr) = true;
    return lease->data_;
  }
  static void ORT_API_CALL TakeBack(OrtAllocator* self, void* block) noexcept {
    if (block != nullptr) delete static_cast<Lease*>(self);
  }
  static const OrtMemoryInfo* ORT_API_CALL InfoOf(const OrtAllocator* self) noexcept {
    return static_cast<const Lease*>(self)->info_;
  }

  StorageRef storage_;
  void* data_;
  size_t nbytes_;
  const OrtMemoryInfo* info_;
  OwnedMemoryInfo owned_info_;  // null if `info_` is the CPU's
  bool* is_lent_;               // null once the block is lent
};

// `tensor` is contiguous, packed, of the given type, and on a device of the table.
inline absl::StatusOr<Ort::Value> LeaseOut(const Tensor& tensor, ONNXTensorElementDataType type) {
  const OrtApi& api = Ort::GetApi();
  const Device device = tensor.device();
  const OrtMemoryInfo* info = device == Device::Cpu() ? CpuMemoryInfo() : nullptr;
  OwnedMemoryInfo owned_info;
  if (info == nullptr) {
    absl::StatusOr<OwnedMemoryInfo> made = MakeMemoryInfo(device);
    if (!made.ok()) return made.status();
    owned_info = *std::move(made);
    info = owned_info.get();
  }
  const absl::Span<const int64_t> shape = tensor.shape();
  OrtValue* value = nullptr;
  if (tensor.num_elements() == 0) {  // there is no memory to keep
    OrtStatus* error = api.CreateTensorWithDataAsOrtValue(info, tensor.raw_data(), 0, shape.data(),
                                                          shape.size(), type, &value);
    if (error != nullptr) return ErrorOf(error);
    return Ort::Value(value);
  }
  bool is_lent = false;
  auto lease = std::make_unique<Lease>(tensor, info, std::move(owned_info), &is_lent);
  OrtStatus* error =
      api.CreateTensorAsOrtValue(lease.get(), shape.data(), shape.size(), type, &value);
  if (is_lent) static_cast<void>(lease.release());
  if (error != nullptr) return ErrorOf(error);
  Ort::Value made(value);
  if (!is_lent) {
    return absl::InternalError("ONNX Runtime asked for more memory than the tensor has.");
  }
  return made;
}

}  // namespace internal_onnxruntime
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_LEASE_H_
