#include "dovetail/python/exchange/protocols/type_and_device.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/protocols/producer.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The names of the methods, made once.
struct Names {
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* data_type = PyUnicode_InternFromString("__dlpack_data_type__");
  PyObject* device = PyUnicode_InternFromString("__dlpack_device__");
};
const Names& Get() { return MadeOnce<Names>(); }

// A class takes an inherited method away by setting it to None.
bool Has(PyObject* x, PyObject* name) {
  PyObject* found = _PyType_Lookup(Py_TYPE(x), name);
  return found != nullptr && found != Py_None;
}

nb::object Ask(PyObject* x, PyObject* name) {
  nb::object answer =
      nb::steal(HangAtThreadEnd([&] { return PyObject_CallMethodNoArgs(x, name); }));
  if (!answer.is_valid()) RaiseOfMethod(absl::StrCat("'", Py_TYPE(x)->tp_name, "' object"), name);
  return answer;
}

// An int, or an enumeration that converts to one though it has no __index__. A number with
// __float__ is no enumeration. TypeError for anything else in `answer`; numbers beyond 64 bits
// become the largest one, which no caller accepts.
bool ReadInteger(PyObject* value, PyObject* answer, int64_t* result) {
  const PyNumberMethods* number = Py_TYPE(value)->tp_as_number;
  const bool has_index = PyIndex_Check(value) != 0;
  if (!has_index &&
      (number == nullptr || number->nb_int == nullptr || number->nb_float != nullptr)) {
    PyErr_Format(PyExc_TypeError, "%R in %R is no integer", value, answer);
    return false;
  }
  nb::object integer = nb::steal(
      HangAtThreadEnd([&] { return has_index ? PyNumber_Index(value) : PyNumber_Long(value); }));
  if (!integer.is_valid()) return false;
  int overflow;
  *result = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
  if (overflow != 0) *result = std::numeric_limits<int64_t>::max();
  return true;
}

bool IsTupleOf(PyObject* x, Py_ssize_t size) {
  return PyTuple_Check(x) && PyTuple_GET_SIZE(x) == size;
}

}  // namespace

bool IsDLPackTensor(PyObject* x) { return Has(x, Get().dlpack); }
bool IsDLPackType(PyObject* x) { return Has(x, Get().data_type) && !IsDLPackTensor(x); }
bool IsDLPackDevice(PyObject* x) { return Has(x, Get().device) && !IsDLPackTensor(x); }

bool AskDataType(PyObject* x, DType* dtype) {
  nb::object answer = Ask(x, Get().data_type);
  if (!answer.is_valid()) return false;
  if (!IsTupleOf(answer.ptr(), 3)) {
    PyErr_Format(PyExc_TypeError,
                 "__dlpack_data_type__() of '%.200s' object returned %R, not a tuple (code, bits, "
                 "lanes)",
                 Py_TYPE(x)->tp_name, answer.ptr());
    return false;
  }
  int64_t code, bits, lanes;
  if (!ReadInteger(PyTuple_GET_ITEM(answer.ptr(), 0), answer.ptr(), &code) ||
      !ReadInteger(PyTuple_GET_ITEM(answer.ptr(), 1), answer.ptr(), &bits) ||
      !ReadInteger(PyTuple_GET_ITEM(answer.ptr(), 2), answer.ptr(), &lanes)) {
    return false;
  }
  // The widths of DLDataType's fields.
  constexpr int kMaxByte = std::numeric_limits<uint8_t>::max();
  constexpr int kMaxLanes = std::numeric_limits<uint16_t>::max();
  if (code < 0 || code > kMaxByte || bits < 0 || bits > kMaxByte || lanes < 0 ||
      lanes > kMaxLanes) {
    PyErr_Format(PyExc_ValueError,
                 "__dlpack_data_type__() of '%.200s' object returned %R; code and bits are 0 to "
                 "255, lanes are 1 to 65535",
                 Py_TYPE(x)->tp_name, answer.ptr());
    return false;
  }
  absl::StatusOr<DType> made =
      DType::Make(static_cast<TypeKind>(code), static_cast<int>(bits), static_cast<int>(lanes));
  if (!made.ok()) {
    RaiseStatus(
        absl::Status(made.status().code(),
                     absl::StrCat("__dlpack_data_type__() of '", Py_TYPE(x)->tp_name,
                                  "' object names no element type: ", made.status().message())));
    return false;
  }
  *dtype = *made;
  return true;
}

bool AskDeviceObject(PyObject* x, Device* device) {
  nb::object answer = Ask(x, Get().device);
  return answer.is_valid() && ReadDeviceAnswer(answer.ptr(), device);
}

bool ReadDeviceAnswer(PyObject* answer, Device* device) {
  if (IsTupleOf(answer, 2)) return ReadDevicePair(answer, device);
  PyErr_Format(PyExc_TypeError, "__dlpack_device__() returned %R, not a pair (type, index)",
               answer);
  return false;
}

bool ReadDevicePair(PyObject* pair, Device* device) {
  PyObject* const given_index = PyTuple_GET_ITEM(pair, 1);
  int64_t type, index = 0;
  if (!ReadInteger(PyTuple_GET_ITEM(pair, 0), pair, &type) ||
      (given_index != Py_None && !ReadInteger(given_index, pair, &index))) {
    return false;
  }
  if (type < 1 || index < 0 || type != static_cast<int32_t>(type) ||
      index != static_cast<int32_t>(index)) {
    PyErr_Format(PyExc_ValueError, "%R is no DLPack device (type, index)", pair);
    return false;
  }
  *device = {static_cast<DeviceType>(type), static_cast<int32_t>(index)};
  return true;
}

}  // namespace dovetail::python
