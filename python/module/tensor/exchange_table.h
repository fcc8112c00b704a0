// DLPack's C exchange API with dovetail.Tensor as producer: the table behind
// `dovetail.Tensor.__dlpack_c_exchange_api__`, which consumers cache by type and call without
// Python's attribute and capsule machinery. Source: dlpack.h 1.3, DLPackExchangeAPI.
//
//   AddExchangeApi(dict_of_the_type);
//
// The table lives as long as the process. Its functions need the GIL, have the results of
// __dlpack__ and from_dlpack, return -1 with a Python error set, and let no C++ exception out. None
// orders streams: the consumer calls current_work_stream.

#ifndef DOVETAIL_PYTHON_MODULE_TENSOR_EXCHANGE_TABLE_H_
#define DOVETAIL_PYTHON_MODULE_TENSOR_EXCHANGE_TABLE_H_

#include <Python.h>

namespace dovetail::python {

// Puts the capsule into the dictionary of a type. False with an error set.
bool AddExchangeApi(PyObject* type_dict);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_TENSOR_EXCHANGE_TABLE_H_
