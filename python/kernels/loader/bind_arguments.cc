#include "dovetail/python/kernels/loader/bind_arguments.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/routes/borrow_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The parameter of that name; `count` if there is none.
size_t Find(const LoadedKernel& loaded, PyObject* name) {
  const auto& all = loaded.parameters;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (PyUnicode_Compare(all[i].name, name) == 0) return i;
  }
  return all.size();
}

bool RefuseCall(const LoadedKernel& loaded, const std::string& what) {
  Raise(PyExc_TypeError, absl::StrCat(loaded.kernel->name, "() ", what));
  return false;
}

bool BindKeyword(const LoadedKernel& loaded, PyObject* name, PyObject* value, PyObject** objects) {
  const size_t i = Find(loaded, name);
  if (i == loaded.parameters.size()) {
    const char* const text = PyUnicode_AsUTF8(name);
    if (text == nullptr) return false;
    return RefuseCall(loaded, absl::StrCat("got an unexpected keyword argument '", text, "'"));
  }
  if (objects[i] != nullptr) {
    return RefuseCall(loaded,
                      absl::StrCat("got multiple values for argument '", loaded.names[i], "'"));
  }
  objects[i] = value;
  return true;
}

// "a str", "an int"
std::string WithArticle(const char* name) {
  return absl::StrCat(std::strchr("aeio", *name) != nullptr ? "an " : "a ", name);
}

// Sets the error of an argument of the wrong kind. `element` is the place in a list, from 1; 0: no
// list.
bool RefuseValue(const LoadedCall& call, size_t i, const char* wanted, PyObject* object,
                 size_t element = 0) {
  const LoadedKernel& loaded = call.loaded();
  const std::string is = object == Py_None ? "None" : WithArticle(Py_TYPE(object)->tp_name);
  Raise(
      PyExc_TypeError,
      absl::StrCat(loaded.kernel->name, "(): argument '", loaded.names[i], "' must be ", wanted,
                   ", and ", element > 0 ? absl::StrCat("element ", element, " ") : "", "is ", is));
  return false;
}

// What Python's own conversion refused: its error stays if the object's own code raised it.
bool RefuseAfter(const LoadedCall& call, size_t i, const char* wanted, PyObject* object,
                 size_t element) {
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  PyErr_Clear();
  return RefuseValue(call, i, wanted, object, element);
}

bool LoadFloat(size_t i, PyObject* object, const char* wanted, size_t element, LoadedCall* call,
               double* value) {
  if (PyFloat_CheckExact(object)) [[likely]] {
    *value = PyFloat_AS_DOUBLE(object);
    return true;
  }
  *value = PyFloat_AsDouble(object);
  return *value != -1 || PyErr_Occurred() == nullptr ||
         RefuseAfter(*call, i, wanted, object, element);
}

bool LoadInt(size_t i, PyObject* object, const char* wanted, size_t element, LoadedCall* call,
             int64_t* value) {
  const nb::object index = nb::steal(PyNumber_Index(object));
  if (!index.is_valid()) return RefuseAfter(*call, i, wanted, object, element);
  int overflow;
  *value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (*value == -1 && PyErr_Occurred() != nullptr) return false;
  KernelFailure failure;
  if (overflow == 0 && call->CheckInt(i, *value, &failure)) return true;
  if (overflow != 0) {
    const nb::object text = nb::steal(PyObject_Str(index.ptr()));
    const char* const words = text.is_valid() ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
    if (words == nullptr) return false;
    call->SayRange(i, words, &failure);
  }
  Raise(failure);
  return false;
}

bool LoadBool(size_t i, PyObject* object, LoadedCall* call, int64_t* value) {
  if (PyBool_Check(object)) {
    *value = object == Py_True;
    return true;
  }
  const std::string type = Py_TYPE(object)->tp_name;
  if (type != "numpy.bool" && type != "numpy.bool_") return RefuseValue(*call, i, "a bool", object);
  const int is_true = PyObject_IsTrue(object);
  *value = is_true;
  return is_true >= 0;
}

bool LoadString(size_t i, PyObject* object, LoadedCall* call, DovetailArgument* value) {
  if (!PyUnicode_Check(object)) return RefuseValue(*call, i, "a str", object);
  Py_ssize_t size;
  value->value.text = PyUnicode_AsUTF8AndSize(object, &size);  // kept by the object
  value->count = size;
  return value->value.text != nullptr;
}

template <typename T>
bool LoadNumbers(size_t i, PyObject* object, LoadedCall* call, DovetailArgument* value) {
  constexpr bool kAreInts = std::is_same_v<T, int64_t>;
  constexpr const char* kWanted = kAreInts ? "a list of ints" : "a list of floats";
  if (!PyList_Check(object) && !PyTuple_Check(object)) {
    return RefuseValue(*call, i, kWanted, object);
  }
  const nb::object items =
      nb::steal(PySequence_Tuple(object));  // what the loading calls may change
  if (!items.is_valid()) return false;
  const auto count = static_cast<size_t>(PyTuple_GET_SIZE(items.ptr()));
  T* const numbers = call->AddList<T>(count);
  for (size_t k = 0; k < count; ++k) {
    PyObject* const item = PyTuple_GET_ITEM(items.ptr(), static_cast<Py_ssize_t>(k));
    bool is_loaded;
    if constexpr (kAreInts) {
      is_loaded = LoadInt(i, item, kWanted, k + 1, call, &numbers[k]);
    } else {
      is_loaded = LoadFloat(i, item, kWanted, k + 1, call, &numbers[k]);
    }
    if (!is_loaded) return false;
  }
  value->count = static_cast<int64_t>(count);
  if constexpr (kAreInts) {
    value->value.integers = numbers;
  } else {
    value->value.numbers = numbers;
  }
  return true;
}

// Outside of modes of PyTorch, which were asked for if there are tensors of its own.
bool BorrowOne(size_t i, PyObject* object, LoadedCall* call, const DovetailBorrowed** tensor) {
  const DovetailRequirements& wanted = *call->loaded().parameters[i].facts->wanted;
  DovetailBorrowed* const borrowed = call->AddTensor();
  *tensor = borrowed;
  call->NoteLike(object);
  PyTypeObject* const type = Py_TYPE(object);
  return (torch_tensor.Is(type) ? BorrowTorchObject(object, wanted, call->call(), borrowed)
                                : BorrowObject(object, &wanted, call->call(), borrowed)) == 0;
}

}  // namespace

bool BindArguments(const LoadedKernel& loaded, PyObject* const* args, Py_ssize_t nargs,
                   PyObject* kwnames, PyObject** objects) {
  const size_t count = loaded.parameters.size();
  if (nargs > loaded.num_positional) {
    return RefuseCall(loaded, absl::StrCat("takes at most ", loaded.num_positional,
                                           " positional arguments, and got ", nargs));
  }
  for (size_t i = 0; i < count; ++i) {
    objects[i] = static_cast<Py_ssize_t>(i) < nargs ? args[i] : nullptr;
  }
  const Py_ssize_t keywords = kwnames != nullptr ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    if (!BindKeyword(loaded, PyTuple_GET_ITEM(kwnames, k), args[nargs + k], objects)) return false;
  }
  for (size_t i = 0; i < count; ++i) {
    if (objects[i] == nullptr) objects[i] = loaded.parameters[i].default_value;
    if (objects[i] == nullptr) {
      return RefuseCall(loaded,
                        absl::StrCat("missing a required argument: '", loaded.names[i], "'"));
    }
  }
  return true;
}

bool LoadValue(size_t i, PyObject* object, LoadedCall* call) {
  const LoadedParameter& parameter = call->loaded().parameters[i];
  DovetailArgument& value = call->value(i);
  value.is_there = 1;
  if (object == Py_None && parameter.is(DOVETAIL_PARAMETER_OPTIONAL)) {
    value.is_there = 0;
    return true;
  }
  const bool is_list = parameter.is(DOVETAIL_PARAMETER_LIST);
  switch (parameter.facts->kind) {
    case DOVETAIL_KIND_FLOAT:
      return is_list ? LoadNumbers<double>(i, object, call, &value)
                     : LoadFloat(i, object, "a float", 0, call, &value.value.number);
    case DOVETAIL_KIND_INT:
      if (is_list) return LoadNumbers<int64_t>(i, object, call, &value);
      return LoadInt(i, object, "an int", 0, call, &value.value.integer);
    case DOVETAIL_KIND_BOOL:
      return LoadBool(i, object, call, &value.value.integer);
    default:
      return LoadString(i, object, call, &value);
  }
}

bool LoadTensors(size_t i, PyObject* object, LoadedCall* call) {
  const LoadedParameter& parameter = call->loaded().parameters[i];
  DovetailArgument& value = call->value(i);
  constexpr uint32_t kMayBeNone = DOVETAIL_PARAMETER_OPTIONAL | DOVETAIL_PARAMETER_OUT;
  value.is_there = object != Py_None || !parameter.is(kMayBeNone);
  if (!value.is_there) return true;
  call->Name(i);
  if (!parameter.is(DOVETAIL_PARAMETER_LIST)) {
    if (object == Py_None) return RefuseValue(*call, i, "a tensor", object);
    return BorrowOne(i, object, call, &value.value.tensor);
  }
  if (!PyList_Check(object) && !PyTuple_Check(object)) {
    return RefuseValue(*call, i, "a list or tuple of tensors", object);
  }
  PyObject* const items = PySequence_Tuple(object);  // other threads may change the list
  if (items == nullptr) return false;
  call->Keep(items);
  return call->LoadList(i, static_cast<size_t>(PyTuple_GET_SIZE(items)),
                        [&](size_t k, const DovetailBorrowed** tensor) {
                          PyObject* const item =
                              PyTuple_GET_ITEM(items, static_cast<Py_ssize_t>(k));
                          return BorrowOne(i, item, call, tensor);
                        });
}

}  // namespace dovetail::python
