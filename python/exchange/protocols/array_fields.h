// Reads the dict of __array_interface__ or __cuda_array_interface__.
//
//   ArrayFields fields;
//   ArrayDescription array;
//   if (!fields.Read(x, "__array_interface__")) return false;
//   if (!fields.found()) …                                     // x has no such attribute
//   if (!fields.DescribeAddress(&array)) return false;
//
// The class turns the entries into C++ values; interop/array_interface and interop/cuda_array
// interpret them. All functions need the GIL and return false with an error set: ExchangeError,
// with the name of the entry, if one is missing or of the wrong type.

#ifndef DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_FIELDS_H_
#define DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_FIELDS_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/python/exchange/base/integers.h"

namespace dovetail::python {

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_EXCHANGE_PROTOCOLS_ARRAY_FIELDS_H_
