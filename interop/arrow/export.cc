#include "dovetail/interop/arrow/export.h"

#include <new>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/block_cache.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/arrow/device_table.h"
#include "dovetail/interop/arrow/format_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("The tensor can't be an Arrow array: ", what, "."));
}

// Owns what an exported array points to. Freed by the array's `release`.
struct ArrayBlock {
  StorageRef storage;
  const void* buffers[2];  // validity (none), values

  static void Release(ArrowArray* array) {
    auto* block = static_cast<ArrayBlock*>(array->private_data);
    array->release = nullptr;
    block->~ArrayBlock();
    FreeBlock<sizeof(ArrayBlock)>(block);
  }
};

void ReleaseSchema(ArrowSchema* schema) { schema->release = nullptr; }

absl::Status CheckLayout(const Tensor& tensor) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  if (tensor.rank() != 1) {
    return Error(absl::StrCat("it has ", tensor.rank(),
                              " dimensions, and Arrow's arrays have one; "
                              "reshape it first, as with reshape(-1)"));
  }
  if (!tensor.is_contiguous()) {
    return Error(absl::StrCat("its elements are ", tensor.layout().stride(0),
                              " apart, and Arrow's "
                              "arrays are dense; copy it first, as with contiguous()"));
  }
  return absl::OkStatus();
}

// Allocates the block last: nothing fails after that.
absl::Status Export(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array) {
  absl::StatusOr<const char*> format = ArrowFromDType(tensor.dtype());
  if (!format.ok()) return format.status();
  const bool addressable = IsAddressable(tensor.device().type);
  const int64_t itemsize = tensor.dtype().itemsize();
  if (!addressable && tensor.byte_offset() % itemsize != 0) {
    return Error(
        absl::StrCat("its first element is ", tensor.byte_offset(),
                     " bytes from an opaque handle, which is not a multiple of the element size"));
  }
  // The host waits now, so no event has to be exported.
  if (absl::Status s = tensor.storage()->Synchronize(); !s.ok()) return s;
  if (absl::Status s = tensor.storage()->Share(std::nullopt); !s.ok()) return s;
  auto* block = new (AllocateBlock<sizeof(ArrayBlock)>())
      ArrayBlock{tensor.storage(), {nullptr, tensor.raw_data()}};
  *schema = {.format = *format, .name = "", .release = &ReleaseSchema};
  *array = {.length = tensor.num_elements(),
            .offset = addressable ? 0 : tensor.byte_offset() / itemsize,
            .n_buffers = 2,
            .buffers = block->buffers,
            .release = &ArrayBlock::Release,
            .private_data = block};
  return absl::OkStatus();
}

}  // namespace

absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array) {
  if (absl::Status s = CheckLayout(tensor); !s.ok()) return s;
  if (!IsHostAccessible(tensor.device().type)) {
    return Error(absl::StrCat("it is on ", tensor.device().ToString(),
                              ", which the host can't access; "
                              "use the device interface (__arrow_c_device_array__), or copy it to "
                              "the CPU first"));
  }
  return Export(tensor, schema, array);
}

absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowDeviceArray* array) {
  if (absl::Status s = CheckLayout(tensor); !s.ok()) return s;
  absl::StatusOr<ArrowDeviceId> device = ArrowFromDevice(tensor.device());
  if (!device.ok()) return device.status();
  ArrowArray inner;
  if (absl::Status s = Export(tensor, schema, &inner); !s.ok()) return s;
  *array = {.array = inner, .device_id = device->id, .device_type = device->type};
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
