// Marks a tensor writable: for memory that only the consumer has, or a consumer that never writes.
//
//   *tensor = Writable(*tensor);

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_WRITABLE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_WRITABLE_H_

#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

inline Tensor Writable(const Tensor& t) {
  return internal_tensor::MakeUnchecked(t.storage(), t.byte_offset(), t.dtype(), t.layout(),
                                        {.access = Access::kReadWrite, .packing = t.packing()});
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_WRITABLE_H_
