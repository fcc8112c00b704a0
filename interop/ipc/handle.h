// ipc::Handle: describes a tensor of one process so that another process on the same machine can
// open it.
//
//   std::string bytes = handle.ToBytes();                          // send them over any channel
//   absl::StatusOr<ipc::Handle> there = ipc::Handle::FromBytes(bytes);
//
// A plain value that owns no memory: the memory stays as long as its owner keeps the tensor
// (share.h). The bytes (about 50) are valid only on this machine and for this version. FromBytes
// checks everything that can be checked without the memory; Open (open.h) checks the rest.

#ifndef DOVETAIL_INTEROP_IPC_HANDLE_H_
#define DOVETAIL_INTEROP_IPC_HANDLE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace ipc {

struct Handle {
  // InvalidArgument, with the reason, for bytes that are damaged, truncated, of another version, or
  // that describe no valid tensor.
  static absl::StatusOr<Handle> FromBytes(std::string_view bytes);
  std::string ToBytes() const;

  // "float32 tensor of shape (2, 3), strides (3, 1), on cpu", as Tensor::ToString.
  std::string ToString() const;

  Device device;  // by the owner's numbering, which can differ from the opener's
  DType dtype;
  Tensor::Options options;
  Layout layout;
  int64_t byte_offset = 0;  // of element 0, from the start of the named memory
  std::string memory;       // the backend's name for the memory; empty if there are no elements
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_HANDLE_H_
