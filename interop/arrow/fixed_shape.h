// Arrow's extension type "arrow.fixed_shape_tensor": a list of tensors of one shape.
//
//   absl::StatusOr<std::optional<FixedShape>> shape = FixedShapeOf(schema);     // nullopt: another
//   schema->metadata = …FixedShapeMetadata({.shape = {2, 3}})…
//
// Each tensor is a list of product(shape) numbers in row-major order of `shape`. Dimension i of the
// tensor is dimension permutation[i] of `shape`. Source:
// arrow.apache.org/docs/format/CanonicalExtensions.html, "Fixed shape tensor". Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_FIXED_SHAPE_H_
#define DOVETAIL_INTEROP_ARROW_FIXED_SHAPE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

struct FixedShape {
  std::vector<int64_t> shape;        // as the numbers lie in memory
  std::vector<int64_t> permutation;  // empty: 0, 1, 2, …

  friend bool operator==(const FixedShape&, const FixedShape&) = default;
};

// nullopt for a schema of another type. InvalidArgument, with the remedy, for metadata that is not
// what the type asks for, and for names of dimensions, which a tensor would lose.
absl::StatusOr<std::optional<FixedShape>> FixedShapeOf(const ArrowSchema& schema);

// By its name alone. False for metadata that can't be read.
bool IsFixedShapeTensor(const ArrowSchema& schema);

// What ArrowSchema::metadata has to point to.
std::string FixedShapeMetadata(const FixedShape& shape);

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_FIXED_SHAPE_H_
