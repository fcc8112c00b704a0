// The CUDA Array Interface, in: what a __cuda_array_interface__ says, as a tensor; without Python's
// header.
//
//   Tensor t;
//   absl::Status s = ImportCudaArray({.array = fields, .version = 3, .stream = 7}, release, &t);
//
// Versions 2 and 3. Objects of ROCm have the attribute too. The interface names no device: the
// backends of CUDA and ROCm are asked whose the pointer is; where neither has a device the memory
// passes through as cuda:0. Source: numba.readthedocs.io, "CUDA Array Interface (Version 3)".

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
  ArrayDescription array;
  int64_t version = 0;
  // The stream that the data are written on: 1 the legacy default stream, 2 the per-thread one,
  // else a handle. None means that there is nothing to wait for, unlike the None of __dlpack__.
  std::optional<int64_t> stream;
};

// Takes `release` over, in failure too: it has then run. Our default stream waits for the
// producer's, and the tensor keeps in mind that it has to be waited for. Where no backend serves
// the device that is the producer's stream itself, which whoever exports the array keeps alive as
// long as the memory. InvalidArgument for another version, stream 0, what describe.h refuses and
// memory that is none of the devices'; what a backend says of the stream. `tensor` is overwritten
// on success only. Any thread.
absl::Status ImportCudaArray(const CudaArrayDescription& array, Storage::Release release,
                             Tensor* tensor);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_CUDA_ARRAY_IMPORT_H_
