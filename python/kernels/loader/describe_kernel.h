// A kernel as Python data, for the package's Python side: schemas of operators, fake results.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_DESCRIBE_KERNEL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_DESCRIBE_KERNEL_H_

#include <Python.h>

#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// A list of a dict for each parameter of Python's function. nullptr with an error set.
//
//   name, kind ("tensor", "float", "int", "bool", "str"), default (of Python; absent if required)
//   is_optional, is_list, is_out, is_inout, keyword_only     True or False
//   size_name     of an int: the named size that it is, or None
//   types         of a tensor: the names of the types that it may have; empty: any
//   type_name     a number that arguments of one type share; 0: none
//   is_host       of a tensor: whether it must be in host memory
//   lead          a number that arguments of equal leading dimensions share; 0: it has none; or
//                 None for leading dimensions without a name
//   shape         a list: a size, a pair (number of a name, how many times that size is wanted), or
//                 None for any; None in the place of the list: any shape
PyObject* DescribeParameters(const LoadedKernel& loaded);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_DESCRIBE_KERNEL_H_
