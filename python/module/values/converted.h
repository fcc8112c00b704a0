// Copies of a tensor with another element type, in which every element is checked.
//
//   Tensor made;
//   if (!Converted(tensor, kInt8, Device::Cpu(), &made)) return nullptr;
//
// Where casts (core/copy.h) would change a value that does not fit, this raises what WriteValue
// (scalar.h) raises for it: OverflowError, ValueError or TypeError.

#ifndef DOVETAIL_PYTHON_MODULE_VALUES_CONVERTED_H_
#define DOVETAIL_PYTHON_MODULE_VALUES_CONVERTED_H_

#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"

namespace dovetail::python {

// `*to` becomes a dense copy on `device`. False with an error set. Needs the GIL, which is released
// during long work; signal handlers may stop that.
bool Converted(const Tensor& from, DType dtype, Device device, Tensor* to);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_VALUES_CONVERTED_H_
