// The dict of __array_interface__ or __cuda_array_interface__, read.
//
//   ArrayFields fields;
//   ArrayDescription array;
//   if (!fields.Read(x, "__array_interface__")) return false;
//   if (!fields.found()) …                                     // x has no such attribute
//   if (!fields.DescribeAddress(&array)) return false;
//
// What the entries mean is for interop/array_interface and interop/cuda_array to judge; here they
// are only turned into C++. All functions need the GIL and return false with an error set:
// ExchangeError for an entry that is missing or of the wrong kind, which names it.

#ifndef DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_FIELDS_H_
#define DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_FIELDS_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/python/exchange/support/integers.h"

namespace dovetail::python {

class ArrayFields {
 public:
  // `attribute` is the name of the dict, a static string. It is looked up once, since it may be
  // computed. True, with nothing read, where x has none.
  bool Read(PyObject* x, const char* attribute);
  bool found() const { return dict_.is_valid(); }

  // An entry, or nothing where it is absent or None. An integer entry likewise.
  bool Find(const char* key, nanobind::object* value) const;
  bool FindInt(const char* key, std::optional<int64_t>* value) const;

  // The entry "data" is a pair, the address and whether it is read-only.
  bool has_address() const { return PyTuple_Check(data_.ptr()); }
  // "data" as it is; None where it is absent.
  PyObject* data() const { return data_.ptr(); }

  // What the dict says but for the memory; it borrows from `this`.
  ArrayDescription Describe() const;
  // The same with the memory at the address.
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

#endif  // DOVETAIL_PYTHON_EXCHANGE_ARRAY_INTERFACE_ARRAY_FIELDS_H_
