// ImportByDLPack of dlpack_in.h: calls a producer's __dlpack__ as both sides understand it.
//
// New keywords first; on a TypeError once more without them (producers older than the array API
// 2023.12). A producer that refuses dl_device= or copy=True is asked without, and the consumer
// makes the copy.

#include <nanobind/nanobind.h>

#include <cstring>

#include "dlpack/dlpack.h"
#include "dovetail/core/registry.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/python/src/arguments.h"
#include "dovetail/python/src/capsule.h"
#include "dovetail/python/src/dlpack_in.h"
#include "dovetail/python/src/error.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// What every call uses, made once.
struct Constants {
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* max_version_name = PyUnicode_InternFromString("max_version");
  PyObject* stream_name = PyUnicode_InternFromString("stream");
  PyObject* dl_device_name = PyUnicode_InternFromString("dl_device");
  PyObject* copy_name = PyUnicode_InternFromString("copy");
  PyObject* max_version = Py_BuildValue("(ii)", DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION);
  PyObject* only_max_version = PyTuple_Pack(1, max_version_name);
};
const Constants& Get() {
  static const Constants* const constants = new Constants;
  return *constants;
}

// The keyword arguments of one call of __dlpack__.
class Call {
 public:
  void Add(PyObject* name, nb::object value) {
    names_[count_] = name;
    values_[count_++] = std::move(value);
  }
  PyObject* Do(PyObject* x) const {
    PyObject* args[5] = {x};
    for (int i = 0; i < count_; ++i) args[1 + i] = values_[i].ptr();
    nb::object names;
    if (count_ > 0) {
      names = nb::steal(PyTuple_New(count_));
      if (!names.is_valid()) return nullptr;
      for (int i = 0; i < count_; ++i) PyTuple_SET_ITEM(names.ptr(), i, Py_NewRef(names_[i]));
    }
    return PyObject_VectorcallMethod(Get().dlpack, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                     names.ptr());
  }

 private:
  PyObject* names_[4];
  nb::object values_[4];
  int count_ = 0;
};

// The common case: a producer on the CPU, and nothing asked for but the newest version.
PyObject* CallPlain(PyObject* x) {
  PyObject* args[2] = {x, Get().max_version};
  return PyObject_VectorcallMethod(Get().dlpack, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                   Get().only_max_version);
}

// An error that a producer may answer a keyword or its value with.
bool IsRefusal() {
  return PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError) ||
         PyErr_ExceptionMatches(PyExc_NotImplementedError) ||
         PyErr_ExceptionMatches(PyExc_RuntimeError);
}

// After a call of __dlpack_device__ that failed: an object without either method is no tensor, and
// __dlpack__ is what people know the protocol by. Returns false.
bool NameMissing(PyObject* x) {
  if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return false;
  {
    nb::error_scope in_flight;
    if (PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(x)), Get().dlpack)) return false;
  }
  PyErr_Format(PyExc_AttributeError,
               "'%.200s' object has no attribute '__dlpack__'; from_dlpack() takes an object with "
               "__dlpack__ and __dlpack_device__, or a DLPack capsule",
               Py_TYPE(x)->tp_name);
  return false;
}

bool AskDevice(PyObject* x, Device* device) {
  PyObject* args[1] = {x};
  nb::object pair = nb::steal(PyObject_VectorcallMethod(
      Get().dlpack_device, args, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
  if (!pair.is_valid()) return NameMissing(x);
  if (!PyTuple_Check(pair.ptr()) || PyTuple_GET_SIZE(pair.ptr()) != 2) {
    PyErr_Format(PyExc_TypeError, "__dlpack_device__() returned %R, not a pair (type, index)",
                 pair.ptr());
    return false;
  }
  // Some producers answer with an enumeration that is no int, and Paddle with None for the index of
  // a device that there is one of.
  PyObject* const given_index = PyTuple_GET_ITEM(pair.ptr(), 1);
  nb::object type = nb::steal(PyNumber_Long(PyTuple_GET_ITEM(pair.ptr(), 0)));
  nb::object index =
      nb::steal(given_index == Py_None ? PyLong_FromLong(0) : PyNumber_Long(given_index));
  if (!type.is_valid() || !index.is_valid()) return false;
  nb::object ints = nb::steal(PyTuple_Pack(2, type.ptr(), index.ptr()));
  return ints.is_valid() && ParseDevice(ints.ptr(), device);
}

// The stream that the producer orders its work before: ours, always passed explicitly.
bool AddStream(Device device, Call* call) {
  // Memory of the host is ready when its producer says so; managed memory has streams.
  const bool has_streams =
      !IsHostAccessible(device.type) || device.type == DeviceType::kCudaManaged;
  DeviceBackend* backend = has_streams ? FindServing(device.type) : nullptr;
  if (backend == nullptr) return true;
  absl::StatusOr<std::optional<int64_t>> code = backend->EncodeStream(CurrentStream(device));
  if (!code.ok()) return RaiseExchange(code.status()), false;
  if (!code->has_value()) return true;
  nb::object value = nb::steal(PyLong_FromLongLong(**code));
  if (!value.is_valid()) return false;
  call->Add(Get().stream_name, std::move(value));
  return true;
}

// Producers whose arrays never change and whose legacy capsules can't say so.
bool IsImmutableProducer(PyObject* x) {
  nb::object module =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(x)), "__module__"));
  if (!module.is_valid() || !PyUnicode_Check(module.ptr())) {
    PyErr_Clear();
    return false;
  }
  const char* name = PyUnicode_AsUTF8(module.ptr());
  constexpr const char* kImmutable[] = {"jaxlib", "jax"};
  for (const char* prefix : kImmutable) {
    const size_t size = std::strlen(prefix);
    if (name != nullptr && std::strncmp(name, prefix, size) == 0 &&
        (name[size] == '\0' || name[size] == '.')) {
      return true;
    }
  }
  return false;
}

// Calls __dlpack__ in the ways that `request` and the producer's age leave, best first. `*copies`
// is set when the producer was asked for the copy and agreed.
PyObject* CallProducer(PyObject* x, Device device, const ImportRequest& request, bool* copies) {
  const Constants& c = Get();
  const bool moves = request.device.has_value() && *request.device != device;
  *copies = false;
  if (device.type == DeviceType::kCpu && !moves && !request.copy.has_value()) {
    PyObject* capsule = CallPlain(x);
    if (capsule != nullptr || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
    PyErr_Clear();
    return Call().Do(x);
  }
  Call old;
  if (!AddStream(device, &old)) return nullptr;
  Call plain = old;
  plain.Add(c.max_version_name, nb::borrow(c.max_version));
  Call full = plain;
  if (moves) {
    const DLDevice to = ToDLDevice(*request.device);
    full.Add(c.dl_device_name,
             nb::steal(Py_BuildValue("(ii)", static_cast<int>(to.device_type), to.device_id)));
  }
  if (request.copy.has_value())
    full.Add(c.copy_name, nb::borrow(*request.copy ? Py_True : Py_False));
  PyObject* capsule = full.Do(x);
  if (capsule != nullptr) {
    *copies = request.copy.value_or(false);
    return capsule;
  }
  if (PyErr_ExceptionMatches(PyExc_TypeError)) {
    PyErr_Clear();
    return old.Do(x);
  }
  // What was refused may be made up for here, unless it is that no copy may be made.
  if (!IsRefusal() || request.copy == std::optional<bool>(false)) return nullptr;
  PyErr_Clear();
  return plain.Do(x);
}

// A producer's BufferError or ValueError over copy=False, as the one type that is both.
std::nullptr_t RaiseRefusal() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  nb::object text = nb::steal(PyObject_Str(value));
  if (traceback != nullptr) PyException_SetTraceback(value, traceback);
  PyErr_Format(ExchangeError(), "The producer refuses copy=False: %S",
               text.is_valid() ? text.ptr() : Py_None);
  PyObject *new_type, *new_value, *new_traceback;
  PyErr_Fetch(&new_type, &new_value, &new_traceback);
  PyErr_NormalizeException(&new_type, &new_value, &new_traceback);
  PyException_SetCause(new_value, value);  // takes the reference over
  PyErr_Restore(new_type, new_value, new_traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nullptr;
}

}  // namespace

bool ImportByDLPack(PyObject* x, const ImportRequest& request, Tensor* tensor, bool* copied) {
  Device device;
  if (!AskDevice(x, &device)) return false;
  nb::object capsule = nb::steal(CallProducer(x, device, request, copied));
  const bool forbids_copy = request.copy == std::optional<bool>(false);
  if (!capsule.is_valid()) {
    if (forbids_copy && IsRefusal()) RaiseRefusal();
    return false;
  }
  if (!PyCapsule_CheckExact(capsule.ptr())) {
    PyErr_Format(PyExc_TypeError, "__dlpack__() of %.200s returned %.200s, not a capsule",
                 Py_TYPE(x)->tp_name, Py_TYPE(capsule.ptr())->tp_name);
    return false;
  }
  CapsuleFacts facts;
  if (!ConsumeCapsule(capsule.ptr(), tensor, &facts)) {
    nb::error_scope in_flight;  // not every producer's destructor heeds it
    capsule.reset();
    return false;
  }
  // The producer has ordered its work before our stream, and who uses the tensor next waits for
  // that.
  if (const Device at = tensor->device();
      at.type != DeviceType::kCpu && FindServing(at.type) != nullptr) {
    tensor->storage()->RecordUse(CurrentStream(at), UseKind::kOrder);
  }
  *copied = *copied || facts.is_copied();
  if (request.trace != nullptr) request.trace->capsule = facts;
  if (facts.is_legacy() && IsImmutableProducer(x) && !*copied) *tensor = tensor->ReadOnly();
  if (facts.is_copied() && forbids_copy) {
    RaiseExchange("The producer made a copy, which copy=False forbids.");
    return false;
  }
  return true;
}

}  // namespace dovetail::python
