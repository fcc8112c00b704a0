// A tensor as an Ort::Value over the same memory, for a session's inputs and outputs.
//
//   absl::StatusOr<Ort::Value> x = AsOrtInput(input);    // also of read-only memory
//   absl::StatusOr<Ort::Value> y = AsOrtValue(output);   // may be written: a preallocated output
//   session.Run(Ort::RunOptions{nullptr}, in_names, &*x, 1, out_names, &*y, 1);
//
// The value keeps the tensor's memory alive, and lets go of it on whichever thread releases the
// value. The data are ready: the host waits for pending work on the memory first.
//
// FailedPrecondition, with the remedy, for a tensor that is null, not contiguous, padded or
// misaligned, and for a type or device that ONNX Runtime lacks. ONNX Runtime's own refusals, such
// as that of complex numbers, are returned as they are (status.h). Any thread.

#ifndef DOVETAIL_INTEROP_ONNXRUNTIME_EXPORT_H_
#define DOVETAIL_INTEROP_ONNXRUNTIME_EXPORT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/find_misfit.h"
#include "dovetail/interop/offer.h"
#include "dovetail/interop/onnxruntime/device_table.h"
#include "dovetail/interop/onnxruntime/lease.h"
#include "dovetail/interop/onnxruntime/status.h"
#include "dovetail/interop/onnxruntime/type_table.h"
#include "dovetail/interop/refusal.h"
#include "dovetail/interop/requirements.h"
#include "onnxruntime_cxx_api.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_onnxruntime {

[[gnu::cold]] inline absl::Status Refused(const Tensor& tensor, const char* reason,
                                          const char* remedy) {
  return internal_interop::Refusal(tensor, "an Ort::Value", reason, remedy);
}

// Where a C++ object of the element's size may be, in bytes.
inline uint32_t AlignmentOf(DType dtype) { return static_cast<uint32_t>(dtype.part().itemsize()); }

// Everything that can be wrong with a tensor, whether or not it is to be written.
inline absl::Status CheckExport(const Tensor& tensor, ONNXTensorElementDataType type) {
  if (tensor.is_null()) return Refused(tensor, "", "Give it memory first");
  if (type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED) {
    return Refused(tensor, "ONNX Runtime lacks the element type",
                   "Cast it: Copied(tensor, {.dtype = …})");
  }
  if (tensor.packing() == Packing::kPadded) {
    return Refused(tensor, "each element has a byte of its own, and ONNX Runtime packs them",
                   "Copy it: Copied(tensor)");
  }
  if (RowOf(tensor.device().type) == nullptr) {
    return Refused(tensor, "ONNX Runtime lacks the device",
                   "Copy it: Copied(tensor, {.device = Device::Cpu()})");
  }
  namespace in = internal_interop;
  const in::Misfit misfit = in::FindMisfit(
      in::OfferOf(tensor), {.alignment = AlignmentOf(tensor.dtype()), .flags = in::kWantRowMajor});
  if (misfit.fits()) return absl::OkStatus();
  return Refused(tensor,
                 misfit.want == in::Want::kRowMajor
                     ? "it is not contiguous, and ONNX Runtime has no strides"
                     : "its memory is not aligned for the element type",
                 "Copy it: Copied(tensor)");
}

inline absl::StatusOr<Ort::Value> Export(const Tensor& tensor) {
  const ONNXTensorElementDataType type = OrtFromDType(tensor.dtype());
  if (absl::Status s = CheckExport(tensor, type); !s.ok()) return s;
  if (absl::Status s = tensor.storage()->Synchronize(); !s.ok()) return s;
  if (absl::Status s = tensor.storage()->Share(std::nullopt); !s.ok()) return s;
  return LeaseOut(tensor, type);
}

}  // namespace internal_onnxruntime

// A value that may be written. FailedPrecondition for a read-only tensor, too.
inline absl::StatusOr<Ort::Value> AsOrtValue(const Tensor& tensor) {
  if (!tensor.is_null() && tensor.is_read_only()) {
    return internal_onnxruntime::Refused(
        tensor, "it is read-only, and an Ort::Value may be written",
        "Use AsOrtInput(tensor) for an input of a session, which does not write it, or copy it: "
        "Copied(tensor)");
  }
  return internal_onnxruntime::Export(tensor);
}

// A value that is only read, as sessions read their inputs. An Ort::Value cannot say that it is
// read-only: the program must not write it, nor bind it as an output.
inline absl::StatusOr<Ort::Value> AsOrtInput(const Tensor& tensor) {
  return internal_onnxruntime::Export(tensor);
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ONNXRUNTIME_EXPORT_H_
