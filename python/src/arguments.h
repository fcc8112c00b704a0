// Arguments of the module's plain C functions: by keyword, and as the types that they mean.
//
//   static const Signature kSignature{"from_dlpack", 1, 1, {"x", "device", "copy"}};
//   PyObject* values[3];
//   if (!kSignature.Parse(args, nargs, kwnames, values)) return nullptr;
//
// All functions return false with a Python error set.

#ifndef DOVETAIL_PYTHON_SRC_ARGUMENTS_H_
#define DOVETAIL_PYTHON_SRC_ARGUMENTS_H_

#include <Python.h>

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/layout.h"

namespace dovetail::python {

// The parameters of a METH_FASTCALL | METH_KEYWORDS function. Made once per function, when it is
// first called (the names are interned).
class Signature {
 public:
  static constexpr int kMaxParameters = 8;

  // `positional` parameters may be given by position, the first `required` must be given, and the
  // first `positional_only` may not be given by name.
  Signature(const char* function, int positional, int required,
            std::initializer_list<const char*> names, int positional_only = 0);

  // Borrowed references in the order of the names; nullptr for what was not given.
  bool Parse(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** values) const {
    const bool as_before = kwnames == nullptr ? nargs >= required_ && nargs <= positional_
                                              : kwnames == last_.kwnames && nargs == last_.nargs;
    if (!as_before) return ParseAnew(args, nargs, kwnames, values);
    for (int i = 0; i < count_; ++i) values[i] = i < nargs ? args[i] : nullptr;
    if (kwnames == nullptr) return true;
    const Py_ssize_t keywords = PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t k = 0; k < keywords; ++k) values[last_.places[k]] = args[nargs + k];
    return true;
  }

 private:
  // Where the keywords of the last call went. A call site passes the same tuple of names every
  // time, so that they are looked up once.
  struct LastCall {
    PyObject* kwnames = nullptr;  // kept alive, since it is known by its address
    Py_ssize_t nargs = 0;
    uint8_t places[kMaxParameters] = {};
  };

  bool ParseAnew(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                 PyObject** values) const;
  int Find(PyObject* name) const;

  const char* function_;
  int positional_, required_, positional_only_, count_;
  PyObject* names_[kMaxParameters];
  mutable LastCall last_;  // guarded by the GIL; never filled in where there is none
};

inline bool IsGiven(PyObject* value) { return value != nullptr && value != Py_None; }

// dt.float32, "float32", a NumPy, PyTorch, JAX, Paddle or ml_dtypes type, or Python's bool, int,
// float (float32) and complex. TypeError or ValueError otherwise; ValueError for a NumPy type in
// the other byte order.
bool ParseDType(PyObject* value, DType* dtype);

// dt.Device, "cuda:0", a DLPack pair (type, index), or a torch.device or Paddle place (by its
// text).
bool ParseDevice(PyObject* value, Device* device);

// True, False or None.
bool ParseOptionalBool(PyObject* value, const char* name, std::optional<bool>* result);

using Dims = absl::InlinedVector<int64_t, Layout::kInlineRank>;
// An integer or a sequence of them.
bool ParseShape(PyObject* value, Dims* shape);
// The arguments of t.reshape(2, 3), which may also be t.reshape((2, 3)).
bool ParseDims(PyObject* const* args, Py_ssize_t nargs, Dims* dims);
bool ParseInt(PyObject* value, int64_t* result);

// The Python object for each; new references, nullptr with an error set.
PyObject* DTypeToPython(DType dtype);
PyObject* DeviceToPython(Device device);
PyObject* ShapeToPython(absl::Span<const int64_t> values);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_SRC_ARGUMENTS_H_
