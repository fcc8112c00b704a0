// ipc::Handle: a tensor of one process, as another on the same machine can open it.
//
//   std::string bytes = handle.ToBytes();                          // to be sent by any channel
//   absl::StatusOr<ipc::Handle> there = ipc::Handle::FromBytes(bytes);
//
// A value that holds no memory: what it names stays as long as its owner keeps the tensor
// (share.h). Its bytes are of this machine and this version alone. FromBytes checks all that can be
// checked without the memory; what the bytes say of that, Open checks (open.h).

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
  // InvalidArgument, with the reason, for bytes that are damaged, cut short, of another version or
  // that say what no tensor is.
  static absl::StatusOr<Handle> FromBytes(std::string_view bytes);
  std::string ToBytes() const;

  // "float32 tensor of shape (2, 3), strides (3, 1), on cpu", as Tensor::ToString.
  std::string ToString() const;

  Device device;  // as the owner numbers it; the process that opens it may number it otherwise
  DType dtype;
  Tensor::Options options;
  Layout layout;
  int64_t byte_offset = 0;  // of element 0, from the start of the memory that is named
  std::string memory;       // what the device's backend calls it; empty: there are no elements
};

}  // namespace ipc
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_IPC_HANDLE_H_
