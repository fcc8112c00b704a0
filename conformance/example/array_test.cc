#include "array.h"
#include "dlpack_conformance/suite.h"

using dlpack_conformance::ArraySpec;
using dlpack_conformance::Seen;

struct Mine {
  using Array = mine::Array;

  static std::optional<Array> Make(const ArraySpec& spec) {
    if (!spec.has_type(kDLFloat, 32) || spec.read_only) return std::nullopt;
    const auto* values = static_cast<const float*>(spec.elements);
    return Array::Of({values, values + spec.num_elements()}, spec.view_shape, spec.view_strides,
                     spec.view_offset);
  }
  static DLManagedTensorVersioned* Export(const Array& x) { return mine::ToDLPack(x); }
  static Array Import(DLManagedTensorVersioned* managed) { return mine::FromDLPack(managed); }
  static Seen Look(const Array& y) { return {{kDLFloat, 32, 1}, y.data, y.shape, y.strides}; }
  static void Write(Array& y) { y.data[0] = 7; }
};

DLPACK_CONFORMANCE(Mine, Mine, {{"consumer.null-data", "callers have to check it"}});
