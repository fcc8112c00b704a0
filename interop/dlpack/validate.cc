#include "dovetail/interop/dlpack/validate.h"

#include "absl/strings/str_cat.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"

namespace dovetail::inline DOVETAIL_ABI {
namespace {

// Out of line, so that the path without errors is short.
[[gnu::cold, gnu::noinline]] absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This DLPack tensor is not valid: ", what, "."));
}

[[gnu::cold, gnu::noinline]] absl::Status TypeError(DLDataType t) {
  return Error(absl::StrCat("its type has code ", static_cast<int>(t.code), ", ",
                            static_cast<int>(t.bits), " bits and ", t.lanes,
                            " lanes, which is none that dlpack.h ", DLPACK_MAJOR_VERSION, ".",
                            DLPACK_MINOR_VERSION, " and Dovetail know"));
}

[[gnu::cold, gnu::noinline]] absl::Status ShapeError(const DLTensor& t, absl::Status status) {
  if (t.ndim > 0 && t.shape == nullptr) {
    return Error(absl::StrCat("it has ", t.ndim, " dimensions but no shape (NULL)"));
  }
  return Error(absl::StrCat("(ndim ", t.ndim, ") ", status.message()));
}

}  // namespace

absl::Status ValidateVersion(DLPackVersion version) {
  if (version.major == DLPACK_MAJOR_VERSION) return absl::OkStatus();
  return Error(absl::StrCat("it has version ", version.major, ".", version.minor,
                            ", and only major version ", DLPACK_MAJOR_VERSION,
                            " can be read; ask the producer for one with max_version=(",
                            DLPACK_MAJOR_VERSION, ", ", DLPACK_MINOR_VERSION, ")"));
}

absl::Status Validate(const DLTensor& t, uint64_t flags, CheckedTensor* out, Layout* layout) {
  if ((flags & ~kKnownFlags) != 0) {
    return Error(absl::StrCat("its flags have bits 0x", absl::Hex(flags & ~kKnownFlags),
                              ", whose meaning is unknown"));
  }
  out->dtype = ToDType(t.dtype);
  if (!out->dtype.is_known()) return TypeError(t.dtype);
  if (t.device.device_id < 0) {
    return Error(absl::StrCat("its device id is ", t.device.device_id));
  }
  out->device = ToDevice(t.device);
  out->options.access =
      flags & DLPACK_FLAG_BITMASK_READ_ONLY ? Access::kReadOnly : Access::kReadWrite;
  out->options.packing = flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED ? Packing::kPadded
                                                                           : Packing::kPacked;

  if (t.ndim > 0 && t.shape == nullptr) return ShapeError(t, {});
  absl::Status status = layout->Assign(t.ndim, t.shape, t.strides);
  if (!status.ok()) return ShapeError(t, std::move(status));
  ByteRange range;
  status = BytesReached(*layout, out->dtype, out->options.packing, &range);
  if (!status.ok()) return ShapeError(t, std::move(status));

  out->data = t.data;
  out->nbytes = range.size();
  out->byte_offset = 0;
  if (!IsAddressable(out->device.type)) {
    // Nothing may be added to an opaque handle: the offset stays beside it.
    int64_t begin, end;
    if (__builtin_add_overflow(t.byte_offset, 0, &out->byte_offset) ||
        __builtin_add_overflow(out->byte_offset, range.begin, &begin) ||
        __builtin_add_overflow(out->byte_offset, range.end, &end)) {
      return Error("it reaches beyond a 64-bit offset");
    }
    return absl::OkStatus();
  }
  if (layout->num_elements() == 0) return absl::OkStatus();  // whatever data is, it is not read
  if (t.data == nullptr) return Error("it has elements but no data (NULL)");
  uintptr_t first, end;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &first) ||
      __builtin_add_overflow(first, range.begin, &first) ||
      __builtin_add_overflow(first, range.size(), &end)) {
    return Error("it reaches beyond the address space");
  }
  out->data = reinterpret_cast<void*>(first);
  out->byte_offset = -range.begin;
  return absl::OkStatus();
}

}  // namespace dovetail::inline DOVETAIL_ABI
