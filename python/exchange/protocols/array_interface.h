// NumPy's array protocols: __array_interface__, __cuda_array_interface__ (version 3) and the method
// __array__.
//
//   Tensor tensor;
//   ExchangeResult result = ImportByArrayInterface(x, &tensor);
//   PyObject* dict = ExportCudaArrayInterface(tensor);
//   nb::object array = CallArrayMethod(x);        // x is a pandas.DataFrame
//
// An import copies nothing, and keeps the object, or the buffer in its entry "data", alive until
// the memory is no longer used. After an export, whoever reads the address keeps the tensor alive.
// interop/array_interface and interop/cuda_array interpret what the dicts say, and have the rules
// of streams and devices. Sources: numpy.org/doc/stable/reference/arrays.interface.html and
// numba.readthedocs.io, "CUDA Array Interface (Version 3)". Everything needs the GIL.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "dovetail/core/tensor.h"
#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"

namespace dovetail::python {

// The entries of either dict as C++ values.
//
//   ArrayFields fields;
//   ArrayDescription array;
//   if (!fields.Read(x, "__array_interface__")) return false;
//   if (!fields.found()) …                                     // x has no such attribute
//   if (!fields.DescribeAddress(&array)) return false;
//
// Functions return false with an error set: ExchangeError, with the name of the entry, if one is
// missing or of the wrong type.
class ArrayFields {
 public:
  // `attribute` is the name of the dict, a static string. Looks it up once, since it may be a
  // computed property. True, and found() is false, if `x` has no such attribute.
  bool Read(PyObject* x, const char* attribute);
  bool found() const { return dict_.is_valid(); }

  // The entry, or an invalid object if it is absent or None; FindInt() the same for an integer.
  bool Find(const char* key, nanobind::object* value) const;
  bool FindInt(const char* key, std::optional<int64_t>* value) const;

  // The entry "data" is a pair, the address and whether it is read-only.
  bool has_address() const { return PyTuple_Check(data_.ptr()); }
  // The entry "data"; None if it is absent.
  PyObject* data() const { return data_.ptr(); }

  // The description without the memory. Borrows from `this`.
  ArrayDescription Describe() const;
  // The same with the memory at the address in "data".
  bool DescribeAddress(ArrayDescription* array) const;

  bool Refuse(std::string_view what) const;

 private:
  const char* attribute_ = nullptr;
  nanobind::object dict_, data_;
  std::string typestr_;
  Dims shape_;
  std::optional<Dims> strides_;
  bool has_mask_ = false;
};

// Reads the dict `attribute` of `x`, and imports what it says by `take`, which returns false with
// an error set. kNotTaken: `x` has no such attribute.
ExchangeResult ImportByFields(PyObject* x, const char* attribute,
                              bool (*take)(PyObject* x, const ArrayFields& fields, Tensor* tensor),
                              Tensor* tensor);

// kNotTaken: `x` has no such attribute. The error is what the attribute raised, or ExchangeError
// for memory that can't be shared (interop/array_interface/describe.h).
ExchangeResult ImportByArrayInterface(PyObject* x, Tensor* tensor);

// A new dict with version, shape, typestr, data and strides, the last None where the tensor is
// row-major. Whoever reads the address keeps the tensor alive. nullptr with an error set.
PyObject* ArrayInterfaceDict(const Tensor& tensor, const std::string& typestr, const void* data);

// kNotTaken: x has no such attribute. An error is what the attribute raised, or ExchangeError for
// what can't be shared.
ExchangeResult ImportByCudaArrayInterface(PyObject* x, Tensor* tensor);

// The dict of version 3. nullptr with an error set: AttributeError for a tensor that is not on a
// GPU of CUDA or ROCm and for a type that has no type string, else ExchangeError.
PyObject* ExportCudaArrayInterface(const Tensor& tensor);

// Whether the class of `x` has the method. Runs no Python code. No error may be set.
bool HasArrayMethod(PyObject* x);

// x.__array__(). Invalid with an error set: what the method raises, or TypeError for a result that
// is no array of NumPy.
nanobind::object CallArrayMethod(PyObject* x);

// False with an ExchangeError set for a numpy.ma array with masked elements: no protocol passes the
// mask on.
bool CheckUnmasked(PyObject* x);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_INTERFACE_H_
