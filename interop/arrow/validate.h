// Reads the structs of an Arrow array: every check of an import, with nothing owned and nothing
// changed.
//
//   CheckedArrow checked;
//   absl::Status s = ValidateArrow(*schema, *array, Device::Cpu(), &checked);
//
// What can be a tensor: one dimension of numbers without nulls. All errors are InvalidArgument and
// say what to do. Source: arrow.apache.org/docs/format/CDataInterface.html.

#ifndef DOVETAIL_INTEROP_ARROW_VALIDATE_H_
#define DOVETAIL_INTEROP_ARROW_VALIDATE_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "dovetail/core/config.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct CheckedArrow {
  DType dtype;
  int64_t length = 0;
  // The first element and how many bytes there are; on devices that are not addressable the handle,
  // and how far from it the first element lies.
  void* data = nullptr;
  size_t nbytes = 0;
  int64_t byte_offset = 0;
};

// Where the producer did not count the nulls they are counted, if the host reaches the device's
// memory; if not that is an error. `checked` is filled on success only.
absl::Status ValidateArrow(const ArrowSchema& schema, const ArrowArray& array, Device device,
                           CheckedArrow* checked);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_VALIDATE_H_
