// Finds the function by which a library that is not in peer_table.cc makes objects of its class.
//
//   nb::object function;
//   if (!FindFromDLPack(type, &function)) return nullptr;
//   if (function.is_valid()) …                  // array_api_strict.from_dlpack for its Array
//
// That is from_dlpack() of the class itself, of its module, or of a package around that module,
// the innermost first. Nothing is imported. Needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ROUTES_FROM_DLPACK_FUNCTION_H_
#define DOVETAIL_PYTHON_EXCHANGE_ROUTES_FROM_DLPACK_FUNCTION_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include "dovetail/python/exchange/base/accepted_memory.h"

namespace dovetail::python {

// `*function` is invalid if there is none. False with an error set if a lookup raised one.
bool FindFromDLPack(PyTypeObject* type, nanobind::object* function);

// The memory that such a library is given without a copy. It may write to what it takes, and
// DLPack's consumers differ in negative strides: PyTorch aborts on them.
inline constexpr AcceptedMemory kUnknownLibrary = {.strides = true};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_ROUTES_FROM_DLPACK_FUNCTION_H_
