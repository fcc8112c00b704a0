#include "dovetail/interop/dlpack/export.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/trace/exchange.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/export_block.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

using internal_trace::Traced;

namespace {

absl::Status Prepare(const Tensor& tensor, const ExportOptions& options) {
  if (tensor.is_null()) return internal_tensor::NullTensorError();
  if (tensor.device().type == DeviceType::kCpu) return absl::OkStatus();
  Storage& storage = *tensor.storage();
  if (!options.host_waits || !options.stream || !options.stream->is_lasting()) {
    absl::Status shared = storage.Share(options.stream);
    return shared.ok() && options.host_waits ? storage.Synchronize() : shared;
  }
  // Then nothing is left to order before the consumer's stream, which stays untouched: to use the
  // default stream would break a capture.
  absl::Status done = storage.Synchronize();
  if (done.ok()) storage.RecordUse(*options.stream);
  return done;
}

// `device` is the tensor's device. (It is a parameter because callers that export host memory pass
// a constant. The compiler then drops the branches, which it would otherwise repeat after each
// reference count.)
template <typename Managed>
[[gnu::always_inline]] inline Managed* Export(const Tensor& tensor, Device device,
                                              StorageRef storage) {
  using Block = internal_dlpack::ExportBlock<Managed>;
  const int rank = tensor.rank();
  int64_t* shape;
  Block* block = Block::New(std::move(storage), tensor.layout(), &shape);
  Managed& managed = block->managed;
  managed.manager_ctx = block;
  managed.deleter = &Block::Delete;
  // Member by member: copying a struct right after filling in its members stalls store forwarding.
  DLTensor& d = managed.dl_tensor;
  const bool empty = tensor.num_elements() == 0;
  d.data = empty ? nullptr : internal_tensor::TensorBuilder::RawData(tensor, device.type);
  d.device = ToDLDevice(device);
  d.ndim = rank;
  d.dtype = ToDLDataType(tensor.dtype());
  d.shape = rank == 0 ? nullptr : shape;
  d.strides = rank == 0 ? nullptr : shape + rank;
  d.byte_offset =
      IsAddressable(device.type) || empty ? 0 : static_cast<uint64_t>(tensor.byte_offset());
  return &managed;
}

[[gnu::always_inline]] inline UniqueDLPack ExportVersioned(const Tensor& tensor, Device device,
                                                           StorageRef storage, bool is_copied) {
  auto* managed = Export<DLManagedTensorVersioned>(tensor, device, std::move(storage));
  managed->version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags =
      (tensor.is_read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) |
      (is_copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0) |
      (tensor.packing() == Packing::kPadded ? DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED : 0);
  return UniqueDLPack(managed);
}

}  // namespace

UniqueDLPack ToDLPackUnordered(const Tensor& tensor, bool is_copied) {
  return ToDLPackUnordered(tensor, tensor.storage(), is_copied);
}

UniqueDLPack ToDLPackUnordered(const Tensor& tensor, StorageRef storage, bool is_copied) {
  const Device device = storage->device();
  if (device == Device::Cpu()) [[likely]] {
    return ExportVersioned(tensor, Device::Cpu(), std::move(storage), is_copied);
  }
  return ExportVersioned(tensor, device, std::move(storage), is_copied);
}

absl::StatusOr<UniqueDLPack> ToDLPack(const Tensor& tensor, const ExportOptions& options) {
  const auto hand_out = [&]() __attribute__((always_inline)) -> absl::StatusOr<UniqueDLPack> {
    if (!tensor.is_null() && tensor.device() == Device::Cpu()) [[likely]] {
      return ExportVersioned(tensor, Device::Cpu(), tensor.storage(), options.is_copied);
    }
    if (absl::Status s = Prepare(tensor, options); !s.ok()) return s;
    return ToDLPackUnordered(tensor, options.is_copied);
  };
  return Traced(TraceKind::kExport, "DLPack", tensor, options.is_copied, hand_out);
}

namespace {

absl::Status CheckLegacy(const Tensor& tensor) {
  if (tensor.is_read_only()) {
    return absl::FailedPreconditionError(
        "The tensor is read-only, which DLPack before 1.0 can't say; the consumer has to ask for "
        "max_version=(1, 0) or later, or for a copy.");
  }
  if (tensor.packing() == Packing::kPadded) {
    return absl::FailedPreconditionError(
        absl::StrCat("Elements of ", tensor.dtype().ToString(),
                     " have a byte each, which DLPack "
                     "before 1.0 can't say; the consumer has to ask for max_version=(1, 2) or "
                     "later, or for a copy."));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UniqueDLPackLegacy> ToDLPackLegacy(const Tensor& tensor,
                                                  const ExportOptions& options) {
  const auto hand_out = [&]() -> absl::StatusOr<UniqueDLPackLegacy> {
    if (absl::Status s = Prepare(tensor, options); !s.ok()) return s;
    if (absl::Status s = CheckLegacy(tensor); !s.ok()) return s;
    return UniqueDLPackLegacy(Export<DLManagedTensor>(tensor, tensor.device(), tensor.storage()));
  };
  return Traced(TraceKind::kExport, "DLPack", tensor, options.is_copied, hand_out);
}

using VersionedBlock = internal_dlpack::ExportBlock<DLManagedTensorVersioned>;

bool IsExport(const DLManagedTensorVersioned* managed) {
  return managed->deleter == &VersionedBlock::Delete;
}

DeletionMark::DeletionMark(DLManagedTensorVersioned* managed) : managed_(managed) {
  managed->manager_ctx = &deleted_;
  managed->deleter = &VersionedBlock::DeleteMarked;
}

DeletionMark::~DeletionMark() {
  if (deleted_) return;
  managed_->manager_ctx = VersionedBlock::FromManaged(managed_);  // DeleteMarked() recognises it
  managed_->deleter = &VersionedBlock::Delete;
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
