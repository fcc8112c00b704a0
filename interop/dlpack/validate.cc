#include "dovetail/interop/dlpack/validate.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dovetail/core/internal/layout_builder.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("This DLPack tensor is not valid: ", what, "."));
}

absl::Status ShapeError(const DLTensor& t, std::string_view what) {
  return Error(absl::StrCat("(ndim ", t.ndim, ") ", absl::StripSuffix(what, ".")));
}

}  // namespace

absl::Status internal_dlpack::VersionError(const DLPackVersion& version) {
  return Error(absl::StrCat("it has version ", version.major, ".", version.minor,
                            ", and only major version ", DLPACK_MAJOR_VERSION,
                            " can be read; ask the producer for one with max_version=(",
                            DLPACK_MAJOR_VERSION, ", ", DLPACK_MINOR_VERSION, ")"));
}

absl::Status DefectError(Defect defect, const DLTensor& t, uint64_t flags) {
  Layout layout;
  ByteRange range;
  switch (defect) {
    case Defect::kNone:
      break;
    case Defect::kFlags:
      return Error(absl::StrCat("its flags have bits 0x", absl::Hex(flags & ~kKnownFlags),
                                ", which Dovetail does not know"));
    case Defect::kType:
      return Error(absl::StrCat("its type has code ", static_cast<int>(t.dtype.code), ", ",
                                static_cast<int>(t.dtype.bits), " bits and ", t.dtype.lanes,
                                " lanes, which is not a type of dlpack.h ", DLPACK_MAJOR_VERSION,
                                ".", DLPACK_MINOR_VERSION, " that Dovetail supports"));
    case Defect::kDevice:
      return Error(absl::StrCat("its device id is ", t.device.device_id));
    case Defect::kShape:
      if (t.ndim > 0 && t.shape == nullptr) {
        return Error(absl::StrCat("it has ", t.ndim, " dimensions but no shape (NULL)"));
      }
      return ShapeError(t, internal_layout::Assign(&layout, t.ndim, t.shape, t.strides).message());
    case Defect::kBytes: {
      absl::Status status = internal_layout::Assign(&layout, t.ndim, t.shape, t.strides);
      status.Update(BytesReached(layout, ToDType(t.dtype),
                                 internal_dlpack::OptionsOf(flags).packing, &range));
      return ShapeError(t, status.message());
    }
    case Defect::kHandleOffset:
      return Error("it reaches beyond a 64-bit offset");
    case Defect::kNull:
      return Error("it has elements but no data (NULL)");
    case Defect::kAddress:
      return Error("it reaches beyond the address space");
  }
  return absl::OkStatus();
}

absl::Status Validate(const DLTensor& tensor, uint64_t flags) {
  CheckedTensor checked;
  return DefectError(FindDefect(tensor, flags, &checked), tensor, flags);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
