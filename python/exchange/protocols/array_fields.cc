#include "dovetail/python/exchange/protocols/array_fields.h"

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/find_attribute.h"
#include "dovetail/python/exchange/base/find_item.h"
#include "dovetail/python/exchange/base/integers.h"

namespace nb = nanobind;

namespace dovetail::python {

bool ArrayFields::Refuse(std::string_view what) const {
  RaiseExchange(absl::StrCat("This ", attribute_, " can't be taken in: ", what, "."));
  return false;
}

bool ArrayFields::Find(const char* key, nb::object* value) const {
  nb::object name = nb::steal(PyUnicode_FromString(key));
  if (!name.is_valid()) return false;
  if (!FindItem(dict_.ptr(), name.ptr(), value)) return false;
  if (value->is_valid() && value->is_none()) *value = nb::object();
  return true;
}

bool ArrayFields::FindInt(const char* key, std::optional<int64_t>* value) const {
  value->reset();
  nb::object entry;
  if (!Find(key, &entry)) return false;
  return !entry.is_valid() || ParseInt(entry.ptr(), &value->emplace());
}

bool ArrayFields::Read(PyObject* x, const char* attribute) {
  attribute_ = attribute;
  nb::object typestr, shape, strides, mask;
  if (!FindAttribute(x, attribute, &dict_)) return false;
  if (!dict_.is_valid()) return true;
  if (!PyDict_Check(dict_.ptr())) {
    return Refuse(absl::StrCat("it is a ", Py_TYPE(dict_.ptr())->tp_name, " and not a dict"));
  }
  if (!Find("typestr", &typestr) || !Find("shape", &shape) || !Find("strides", &strides) ||
      !Find("mask", &mask) || !Find("data", &data_)) {
    return false;
  }
  if (!data_.is_valid()) data_ = nb::none();
  has_mask_ = mask.is_valid();
  if (!typestr.is_valid() || !PyUnicode_Check(typestr.ptr())) {
    return Refuse("its entry \"typestr\" is no string such as \"<f4\"");
  }
  const char* text = PyUnicode_AsUTF8(typestr.ptr());
  if (text == nullptr) return false;
  typestr_ = text;
  if (!shape.is_valid() || !PySequence_Check(shape.ptr())) {
    return Refuse("its entry \"shape\" is no tuple");
  }
  if (strides.is_valid() && !PySequence_Check(strides.ptr())) {
    return Refuse("its entry \"strides\" is neither a tuple nor None");
  }
  return ParseShape(shape.ptr(), &shape_) &&
         (!strides.is_valid() || ParseShape(strides.ptr(), &strides_.emplace()));
}

ArrayDescription ArrayFields::Describe() const {
  ArrayDescription array{.typestr = typestr_, .shape = shape_, .has_mask = has_mask_};
  if (strides_) array.strides = *strides_;
  return array;
}

bool ArrayFields::DescribeAddress(ArrayDescription* array) const {
  if (!has_address() || PyTuple_GET_SIZE(data_.ptr()) != 2) {
    return Refuse("its entry \"data\" is no pair of an address and whether it is read-only");
  }
  PyObject* address = PyTuple_GET_ITEM(data_.ptr(), 0);
  if (!PyLong_Check(address)) return Refuse("the address in \"data\" is no integer");
  *array = Describe();
  array->data = PyLong_AsVoidPtr(address);
  if (array->data == nullptr && PyErr_Occurred()) return false;
  const int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data_.ptr(), 1));
  array->read_only = read_only == 1;
  return read_only >= 0;
}

}  // namespace dovetail::python
