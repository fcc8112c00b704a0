// Imports tensors through the CUDA Array Interface, from the fields of a __cuda_array_interface__
// dict. Needs no Python header.
//
//   Tensor t;
//   absl::Status s = ImportCudaArray({.array = fields, .version = 3, .stream = 7}, release, &t);
//
// Versions 2 and 3. ROCm libraries use the same attribute. The interface names no device, so the
// CUDA and ROCm backends are asked which device owns the pointer. If neither has a device, the
// memory passes through as cuda:0. Source: numba.readthedocs.io, "CUDA Array Interface (Version
// 3)".

#ifndef DOVETAIL_INTEROP_CUDA_ARRAY_IMPORT_H_
#define DOVETAIL_INTEROP_CUDA_ARRAY_IMPORT_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/storage.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/array_interface/describe.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CudaArrayDescription {
  ArrayDescription array = {};
  int64_t version = 0;
  // The stream that writes the data: 1 is the legacy default stream, 2 the per-thread default
  // stream, anything else a handle. nullopt: the data are ready. (None means something else in
  // __dlpack__.)
  std::optional<int64_t> stream = {};
};

// Takes ownership of `release`; on an error it has run. Sets `tensor` on success only.
//
// The current stream waits for the producer's stream and is recorded as pending work on the memory.
// If no backend serves the device, the producer's stream itself is recorded; the producer keeps it
// alive as long as the memory.
//
// InvalidArgument for another version, for stream 0, for whatever describe.h refuses, and for
// memory that no device owns. The backend reports its own errors about the stream. Any thread.
absl::Status ImportCudaArray(const CudaArrayDescription& array, Storage::Release release,
                             Tensor* tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_CUDA_ARRAY_IMPORT_H_
