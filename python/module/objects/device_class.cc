#include "dovetail/python/module/objects/device_class.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dovetail/core/device.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/type_and_device.h"
#include "dovetail/python/module/objects/refuse_new.h"
#include "dovetail/python/module/objects/spelling.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyTypeObject* device_class = nullptr;
PyObject* cpu = nullptr;

// "Place(gpu:0)", as Paddle prints its places, and "trn:0", as tvm-ffi names a device, in our
// words.
std::string FromOtherNames(std::string_view text) {
  if (std::string_view index = text;
      absl::ConsumePrefix(&index, "trn") && (index.empty() || index.front() == ':')) {
    return absl::StrCat(DeviceTypeName(DeviceType::kTrainium), index);
  }
  if (!absl::ConsumePrefix(&text, "Place(") || !absl::ConsumeSuffix(&text, ")")) {
    return std::string(text);
  }
  if (text == "gpu_pinned") return "cuda_host";
  return absl::ConsumePrefix(&text, "gpu") ? absl::StrCat("cuda", text) : std::string(text);
}

bool ParseText(PyObject* text, Device* device) {
  Py_ssize_t size;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
  if (utf8 == nullptr) return false;
  absl::StatusOr<Device> parsed = Device::Parse(FromOtherNames({utf8, static_cast<size_t>(size)}));
  if (!parsed.ok()) return RaiseStatus(parsed.status()), false;
  *device = *parsed;
  return true;
}

nb::object Equals(Device own, nb::handle other) {
  if (Py_TYPE(other.ptr()) == device_class) return nb::bool_(own == *nb::inst_ptr<Device>(other));
  if (PyUnicode_Check(other.ptr()) || PyTuple_Check(other.ptr()) || IsDLPackDevice(other.ptr()) ||
      IsClassNamed(other.ptr(), {"device", "Device"})) {
    return EqualsSpelling(own, other.ptr(), &ParseDevice);
  }
  return nb::borrow(Py_NotImplemented);
}

// The type's name alone, "cuda" of "cuda:0".
std::string TypeName(Device d) { return DeviceTypeName(d.type); }

}  // namespace

bool ParseDevice(PyObject* value, Device* device) {
  if (Py_TYPE(value) == device_class) {
    *device = *nb::inst_ptr<Device>(value);
    return true;
  }
  if (PyUnicode_Check(value)) return ParseText(value, device);
  if (PyTuple_Check(value) && PyTuple_GET_SIZE(value) == 2) return ReadDevicePair(value, device);
  if (PyTuple_Check(value) || PyLong_Check(value)) {
    PyErr_Format(PyExc_TypeError,
                 "%R is no device; expected a name such as \"cuda:0\", a Device, or a DLPack pair "
                 "(type, index)",
                 value);
    return false;
  }
  if (IsDLPackDevice(value)) return AskDeviceObject(value, device);  // paddle.CPUPlace()
  if (IsDLPackTensor(value)) {
    PyErr_Format(PyExc_TypeError,
                 "'%.200s' object is a tensor, not a device; pass x.device or "
                 "x.__dlpack_device__()",
                 Py_TYPE(value)->tp_name);
    return false;
  }
  nb::object text = nb::steal(PyObject_Str(value));  // torch.device, tvm_ffi.Device
  return text.is_valid() && ParseText(text.ptr(), device);
}

PyObject* DeviceToPython(Device device) {
  if (device == Device::Cpu()) return Py_NewRef(cpu);
  return nb::cast(device).release().ptr();
}

void AddDeviceClass(nb::module_& m) {
  nb::class_<Device> c(m, "Device", nb::is_final(),
                       "Where memory lives: a type and an index, as in Device(\"cuda:0\").");
  c.attr("__module__") = "dovetail";
  c.def(
      "__init__",
      [](Device* self, nb::handle device, std::optional<int> index) {
        Device parsed;
        if (!ParseDevice(device.ptr(), &parsed)) throw nb::python_error();
        if (index.has_value()) parsed.index = *index;
        if (parsed.index < 0) throw nb::value_error("the index of a device is not negative");
        new (self) Device(parsed);
      },
      nb::arg("device"), nb::arg("index") = nb::none(),
      nb::sig("def __init__(self, device: object, index: int | None = None) -> None"));
  c.def_prop_ro("type", &TypeName, "The type's name, \"cpu\" or \"cuda\".");
  c.def_ro("index", &Device::index, "Which of the devices of that type.");
  c.def(
      "__dlpack_device__",
      [](Device d) { return nb::make_tuple(static_cast<int32_t>(d.type), d.index); },
      nb::sig("def __dlpack_device__(self) -> tuple[int, int]"),
      "DLPack's device type and index, by which other libraries take it as a device.");
  c.def("__repr__", [](Device d) { return absl::StrCat("dovetail.Device('", d.ToString(), "')"); });
  c.def("__str__", &Device::ToString);
  c.def("__eq__", &Equals, nb::arg("other").none(),
        nb::sig("def __eq__(self, other: object, /) -> bool"));
  c.def("__hash__", [](Device d) { return HashOfText(d.ToString()); });
  c.def("__reduce__", [c](Device d) { return nb::make_tuple(c, nb::make_tuple(d.ToString())); });
  device_class = reinterpret_cast<PyTypeObject*>(c.ptr());
  RefuseBareNew(device_class);
  cpu = nb::cast(Device::Cpu()).release().ptr();
}

}  // namespace dovetail::python
