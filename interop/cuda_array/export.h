// Exports tensors through the CUDA Array Interface: the fields of t.__cuda_array_interface__. Needs
// no Python header.
//
//   absl::StatusOr<CudaArrayExport> out = ExportCudaArray(tensor);
//   // {.typestr = "<f4", .data = element 0, .stream = nullopt}; shape and strides are the tensor's
//
// Version 3. Owns nothing: the consumer keeps the tensor alive while it uses the address. Source:
// numba.readthedocs.io, "CUDA Array Interface (Version 3)".

#ifndef DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_
#define DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CudaArrayExport {
  std::string typestr = {};
  void* data = nullptr;  // element 0; nullptr if there are no elements
  // The stream that the consumer must wait for: 1, 2 or a handle. nullopt: the data are ready.
  std::optional<int64_t> stream = {};
};

// InvalidArgument for memory that is not on a CUDA or ROCm GPU (managed memory is accepted), and
// for a type without a type string. The backend reports its own error if it can't join several
// streams into one. Any thread.
absl::StatusOr<CudaArrayExport> ExportCudaArray(const Tensor& tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_CUDA_ARRAY_EXPORT_H_
