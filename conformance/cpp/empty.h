// Tensors without elements, which two rules of consumers speak of.

#ifndef DLPACK_CONFORMANCE_EMPTY_H_
#define DLPACK_CONFORMANCE_EMPTY_H_

#include "dlpack_conformance/lent.h"

namespace dlpack_conformance {

struct EmptyCase {
  const char* name;
  bool two_dimensions;
  bool null_data;
};

inline constexpr EmptyCase kEmptyCases[] = {
    {"one_dimension/NULL", false, true},
    {"one_dimension/data", false, false},
    {"two_dimensions/NULL", true, true},
    {"two_dimensions/data", true, false},
};

inline LentFields FieldsOf(const EmptyCase& empty) {
  LentFields fields;
  fields.shape = {0};
  fields.strides = {1};
  if (empty.two_dimensions) {
    fields.shape = {2, 0};
    fields.strides = {1, 1};
  }
  fields.null_data = empty.null_data;
  return fields;
}

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_EMPTY_H_
