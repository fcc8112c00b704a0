#include "dovetail/interop/arrow/export.h"

#include <algorithm>
#include <functional>
#include <new>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "dovetail/core/internal/blocks/block_cache.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/registry.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/interop/arrow/device_table.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/format_table.h"
#include "dovetail/interop/arrow/lists.h"
#include "dovetail/interop/arrow/owned.h"

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

// What the dimensions after the first become: lists, from the outermost inwards, and the metadata
// of the outermost.
struct Nest {
  absl::InlinedVector<int64_t, Layout::kInlineRank> sizes;
  std::string metadata;
};

absl::Status GapError(const Tensor& tensor) {
  return Error(absl::StrCat("its strides are (", absl::StrJoin(tensor.layout().strides(), ", "),
                            "), and Arrow's arrays are dense and row-major; copy it first, by "
                            "AsContiguous() (in Python, contiguous())"));
}

int64_t ElementsOf(absl::Span<const int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

absl::Status PlanLists(const Tensor& tensor, bool flat, Nest* nest) {
  if (!tensor.is_contiguous()) return GapError(tensor);
  const absl::Span<const int64_t> sizes = tensor.shape().subspan(1);
  if (flat) {
    nest->sizes = {ElementsOf(sizes)};
  } else {
    nest->sizes.assign(sizes.begin(), sizes.end());
  }
  return absl::OkStatus();
}

absl::Status PlanFixedShape(const Tensor& tensor, Nest* nest) {
  const absl::Span<const int64_t> strides = tensor.strides();
  std::vector<int64_t> order(strides.size());  // the dimensions as they lie in memory
  std::iota(order.begin(), order.end(), 0);
  if (!tensor.is_contiguous()) {
    std::stable_sort(order.begin() + 1, order.end(),
                     [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  }
  const absl::StatusOr<Tensor> ordered = tensor.Permute(order);
  if (!ordered.ok()) return ordered.status();
  if (!ordered->is_contiguous()) return GapError(tensor);
  const absl::Span<const int64_t> shape = ordered->shape().subspan(1);
  FixedShape fixed = {.shape = {shape.begin(), shape.end()}};
  if (!std::is_sorted(order.begin(), order.end())) {
    fixed.permutation.resize(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
      fixed.permutation[order[i + 1] - 1] = static_cast<int64_t>(i);
    }
  }
  nest->sizes = {ElementsOf(shape)};
  nest->metadata = FixedShapeMetadata(fixed);
  return absl::OkStatus();
}

absl::Status Plan(const Tensor& tensor, ArrowNesting nesting, Nest* nest) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  if (tensor.rank() == 0) {
    return Error(
        "it has 0 dimensions, and Arrow's arrays have one; reshape it first, as with "
        "reshape(-1)");
  }
  if (nesting == ArrowNesting::kFixedShapeTensor) return PlanFixedShape(tensor, nest);
  return PlanLists(tensor, nesting == ArrowNesting::kFlatLists, nest);
}

absl::Status ExportNumbers(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array) {
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

// Overwrites both structs last: nothing fails after that.
absl::Status Export(const Tensor& tensor, const Nest& nest, ArrowSchema* schema,
                    ArrowArray* array) {
  if (nest.sizes.empty()) return ExportNumbers(tensor, schema, array);
  OwnedArrow<ArrowSchema> owned_schema;
  OwnedArrow<ArrowArray> owned_array;
  absl::Status status = ExportNumbers(tensor, owned_schema.get(), owned_array.get());
  if (!status.ok()) return status;
  int64_t count = tensor.shape()[0];
  absl::InlinedVector<int64_t, Layout::kInlineRank> counts;
  for (const int64_t size : nest.sizes) {
    counts.push_back(count);
    count *= size;
  }
  for (size_t i = nest.sizes.size(); i-- > 0;) {
    WrapInLists(counts[i], owned_array.get());
    WrapInLists(nest.sizes[i], i == 0 ? nest.metadata : "", owned_schema.get());
  }
  *schema = owned_schema.Take();
  *array = owned_array.Take();
  return absl::OkStatus();
}

absl::Status PlanAndExport(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array,
                           const ToArrowOptions& options) {
  Nest nest;
  if (absl::Status s = Plan(tensor, options.nesting, &nest); !s.ok()) return s;
  if (!IsHostAccessible(tensor.device().type)) {
    return Error(absl::StrCat("it is on ", tensor.device().ToString(),
                              ", which the host can't access; "
                              "use the device interface (__arrow_c_device_array__), or copy it to "
                              "the CPU first"));
  }
  return Export(tensor, nest, schema, array);
}

absl::Status PlanAndExport(const Tensor& tensor, ArrowSchema* schema, ArrowDeviceArray* array,
                           const ToArrowOptions& options) {
  Nest nest;
  if (absl::Status s = Plan(tensor, options.nesting, &nest); !s.ok()) return s;
  absl::StatusOr<ArrowDeviceId> device = ArrowFromDevice(tensor.device());
  if (!device.ok()) return device.status();
  ArrowArray inner;
  if (absl::Status s = Export(tensor, nest, schema, &inner); !s.ok()) return s;
  *array = {.array = inner, .device_id = device->id, .device_type = device->type};
  return absl::OkStatus();
}

}  // namespace

absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowArray* array,
                     const ToArrowOptions& options) {
  return internal_trace::Traced(TraceKind::kExport, "Arrow", tensor, /*copied=*/false,
                                [&] { return PlanAndExport(tensor, schema, array, options); });
}

absl::Status ToArrow(const Tensor& tensor, ArrowSchema* schema, ArrowDeviceArray* array,
                     const ToArrowOptions& options) {
  return internal_trace::Traced(TraceKind::kExport, "Arrow", tensor, /*copied=*/false,
                                [&] { return PlanAndExport(tensor, schema, array, options); });
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
