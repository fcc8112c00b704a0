// What convert() knows of each library that it makes tensors of: a table of their differences.
//
//   const Target* t = FindTarget(type);           // nullptr: not in the table
//   if (!t->takes_read_only && tensor.is_read_only()) ...

#ifndef DOVETAIL_PYTHON_SRC_TARGET_H_
#define DOVETAIL_PYTHON_SRC_TARGET_H_

#include <Python.h>

#include "dovetail/python/src/peer_type.h"

namespace dovetail::python {

// How an object of the class is made from a dovetail.Tensor.
enum class TargetDoor {
  kOwn,          // it is one
  kNumPy,        // through NumPy's C interface
  kExchangeApi,  // through the class's DLPack exchange API, or else its function
  kFunction,     // by calling the function below with the tensor
};

struct Target {
  PeerType& type;
  TargetDoor door;
  // What the library takes without a copy. What it does not take is copied, unless copy=False.
  bool takes_read_only;
  bool takes_negative_strides;
  bool takes_strides;           // any that leave gaps or are not in row-major order
  int alignment;                // of element 0, in bytes
  const char* function_module;  // for kFunction, and where there is no exchange API
  const char* function;
};

// The entry of a class, or nullptr.
Target* FindTarget(PyTypeObject* type);

// The names of all entries, for an error.
const char* TargetNames();

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_TARGET_H_
