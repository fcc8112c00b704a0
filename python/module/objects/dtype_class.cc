#include "dovetail/python/module/objects/dtype_class.h"

#include <nanobind/operators.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/dtype.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/protocols/type_and_device.h"
#include "dovetail/python/module/objects/refuse_new.h"
#include "dovetail/python/module/objects/spelling.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyTypeObject* dtype_class = nullptr;
PyObject* singletons[std::size(kAllDTypes)];

// The type objects of other libraries that were parsed, by identity: equality would find the number
// 3.0 where NumPy's scalar of 3 was. An entry stays and keeps its object alive, so that no other
// object can have its address.
struct Foreign {
  PyObject* object;
  DType dtype;
};
struct ForeignCell {
  GilGuarded<const Foreign*> foreign{nullptr};
};
constexpr size_t kForeignCells = 256;
constexpr size_t kForeignProbes = 8;
constinit ForeignCell foreign_cells[kForeignCells];

// Where `object` may stand: kForeignProbes cells, of which this is one.
ForeignCell& ForeignCellOf(PyObject* object, size_t probe) {
  const uint64_t hash = reinterpret_cast<uintptr_t>(object) * 0x9E3779B97F4A7C15;
  return foreign_cells[((hash >> 56) + probe) % kForeignCells];
}

bool FindForeign(PyObject* object, DType* dtype) {
  for (size_t probe = 0; probe < kForeignProbes; ++probe) {
    const Foreign* const known = ForeignCellOf(object, probe).foreign.load();
    if (known == nullptr) return false;
    if (known->object == object) return *dtype = known->dtype, true;
  }
  return false;
}

// Does nothing where there is no cell left.
void RememberForeign(PyObject* object, DType dtype) {
  for (size_t probe = 0; probe < kForeignProbes; ++probe) {
    GilGuarded<const Foreign*>& cell = ForeignCellOf(object, probe).foreign;
    if (cell.load() == nullptr) return cell.store(new Foreign{Py_NewRef(object), dtype});
  }
}

// The place of a type in kAllDTypes, by kind and bits.
constexpr int kKinds = 19;
constexpr int kMaxBits = 128;
struct Places {
  uint8_t place[kKinds][kMaxBits + 1] = {};
};
constexpr Places MakePlaces() {
  Places p;
  for (size_t i = 0; i < std::size(kAllDTypes); ++i) {
    p.place[static_cast<int>(kAllDTypes[i].kind)][kAllDTypes[i].bits] = static_cast<uint8_t>(i);
  }
  return p;
}
constexpr Places kPlaces = MakePlaces();

// What the name of a foreign type object says: "torch.float32", "paddle.bfloat16".
bool ParseName(PyObject* value, std::string_view text, DType* dtype) {
  absl::StatusOr<DType> parsed = DType::Parse(text.substr(text.rfind('.') + 1));
  if (!parsed.ok()) {
    PyErr_Format(PyExc_TypeError,
                 "%R is no element type; expected a dovetail, NumPy, PyTorch, JAX or Paddle type, "
                 "or a name such as \"float32\"",
                 value);
    return false;
  }
  *dtype = *parsed;
  return true;
}

bool ParseText(PyObject* value, DType* dtype) {
  nb::object text = nb::steal(PyObject_Str(value));
  if (!text.is_valid()) return false;
  Py_ssize_t size;
  const char* utf8 = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  return utf8 != nullptr && ParseName(value, {utf8, static_cast<size_t>(size)}, dtype);
}

// A numpy.dtype, or what numpy.dtype() takes for one (numpy.float32, ml_dtypes.bfloat16).
bool ParseNumPyDType(nb::handle value, DType* dtype) {
  const nb::object name = value.attr("name");
  if (!PyUnicode_Check(name.ptr())) {  // such as a Mock, which has every attribute
    PyErr_Format(PyExc_TypeError, "%R is no element type: its name is no str", value.ptr());
    return false;
  }
  if (value.attr("isnative").is(nb::bool_(false))) {
    PyErr_Format(PyExc_ValueError,
                 "%R is in the other byte order; convert the data first, as in "
                 "x.astype(x.dtype.newbyteorder('='))",
                 value.ptr());
    return false;
  }
  Py_ssize_t size;
  const char* const utf8 = PyUnicode_AsUTF8AndSize(name.ptr(), &size);
  return utf8 != nullptr && ParseName(value.ptr(), {utf8, static_cast<size_t>(size)}, dtype);
}

bool Has(nb::handle object, const char* name) {
  nb::object found;
  if (!FindAttribute(object.ptr(), name, &found)) throw nb::python_error();
  return found.is_valid();
}

// Whether `value` says the same as long as it lives: a type object of a library, or one of its
// classes of numbers. A number or an array that has a type is none.
bool IsConstant(PyObject* value) {
  PyTypeObject* const type = Py_TYPE(value);
  if (torch_dtype.Is(type) || paddle_dtype.Is(type) || numpy_dtype.IsBaseOf(type)) return true;
  if (!PyType_Check(value)) return false;
  if (numpy_scalar.IsBaseOf(reinterpret_cast<PyTypeObject*>(value))) return true;
  // jax.numpy.float32 and its like: JAX publishes no base class of them.
  nb::object module = nb::steal(PyImport_GetModule(nb::str("jax.numpy").ptr()));
  if (!module.is_valid()) return false;
  return nb::getattr(module, nb::getattr(value, "__name__"), nb::none()).ptr() == value;
}

bool ParsePythonType(PyObject* value, DType* dtype) {
  if (value == reinterpret_cast<PyObject*>(&PyBool_Type)) return *dtype = kBool, true;
  if (value == reinterpret_cast<PyObject*>(&PyLong_Type)) return *dtype = kInt64, true;
  if (value == reinterpret_cast<PyObject*>(&PyFloat_Type)) return *dtype = kFloat32, true;
  if (value == reinterpret_cast<PyObject*>(&PyComplex_Type)) return *dtype = kComplex64, true;
  return false;
}

// A type object of another library.
bool ParseForeign(PyObject* value, DType* dtype) {
  if (IsDLPackType(value)) return AskDataType(value, dtype);
  if (IsDLPackTensor(value)) {
    PyErr_Format(PyExc_TypeError, "'%.200s' object is a tensor, not an element type; pass x.dtype",
                 Py_TYPE(value)->tp_name);
    return false;
  }
  nb::handle h(value);
  if (Has(h, "isnative") && Has(h, "name")) return ParseNumPyDType(h, dtype);
  // Only a program that has imported NumPy can hold its scalar types; ours does not import it.
  nb::object numpy = nb::steal(PyImport_GetModule(nb::str("numpy").ptr()));
  if (numpy.is_valid() && PyType_Check(value)) {
    return ParseNumPyDType(numpy.attr("dtype")(h), dtype);
  }
  if (Has(h, "dtype")) return ParseNumPyDType(h.attr("dtype"), dtype);  // jax.numpy.float32
  return ParseText(value, dtype);
}

nb::object Equals(DType own, nb::handle other) {
  if (Py_TYPE(other.ptr()) == dtype_class) return nb::bool_(own == *nb::inst_ptr<DType>(other));
  if (PyUnicode_Check(other.ptr()) || PyType_Check(other.ptr()) || IsDLPackType(other.ptr()) ||
      IsClassNamed(other.ptr(), {"dtype", "DType", "DataType"})) {
    return EqualsSpelling(own, other.ptr(), &ParseDType);
  }
  return nb::borrow(Py_NotImplemented);
}

// A numpy.dtype, for numpy.dtype(t). Imports NumPy: who asks has done so.
nb::object ToNumPyDType(nb::handle self) {
  return nb::module_::import_("dovetail._numpy").attr("to_numpy_dtype")(self);
}

// AttributeError where there is none, so that hasattr() and getattr() with a default work.
nb::object ToNumPyDTypeIfAny(nb::handle self) {
  try {
    return ToNumPyDType(self);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError) && !e.matches(PyExc_ImportError)) throw;
    nb::raise_from(e, PyExc_AttributeError, "%R has no numpy.dtype", self.ptr());
  }
}

std::string Repr(DType t) { return absl::StrCat("dovetail.", t.ToString()); }

}  // namespace

bool ParseDType(PyObject* value, DType* dtype) {
  if (Py_TYPE(value) == dtype_class) {
    *dtype = *nb::inst_ptr<DType>(value);
    return true;
  }
  if (PyUnicode_Check(value)) {
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(value, &size);
    if (text == nullptr) return false;
    absl::StatusOr<DType> parsed = DType::Parse({text, static_cast<size_t>(size)});
    if (!parsed.ok()) return RaiseStatus(parsed.status()), false;
    *dtype = *parsed;
    return true;
  }
  if (FindForeign(value, dtype) || ParsePythonType(value, dtype)) return true;
  try {
    if (!ParseForeign(value, dtype)) return false;
    if (IsConstant(value)) RememberForeign(value, *dtype);
  } catch (nb::python_error& e) {
    e.restore();
    return false;
  }
  return true;
}

PyObject* DTypeToPython(DType dtype) {
  if (dtype.lanes == 1) {
    const int place = kPlaces.place[static_cast<int>(dtype.kind)][dtype.bits];
    return Py_NewRef(singletons[place]);
  }
  return nb::cast(dtype).release().ptr();
}

void AddDTypeClass(nb::module_& m) {
  nb::class_<DType> c(m, "DType", nb::is_final(),
                      "The type of a tensor's elements: a kind of number, its bits, and lanes.");
  c.attr("__module__") = "dovetail";
  c.def_prop_ro("name", &DType::ToString, "As in \"float32\"; lanes print as in \"float32x4\".");
  c.def_prop_ro(
      "itemsize", &DType::itemsize,
      "Bytes of one element; an element that shares a byte with others counts as one byte.");
  c.def_ro("bits", &DType::bits, "Bits of one lane.");
  c.def_ro("lanes", &DType::lanes, "Lanes of one element; 1 but for vector types.");
  c.def_prop_ro("code", [](DType t) { return static_cast<int>(t.kind); }, "DLPack's type code.");
  c.def(
      "__dlpack_data_type__",
      [](DType t) { return nb::make_tuple(static_cast<int>(t.kind), t.bits, t.lanes); },
      nb::sig("def __dlpack_data_type__(self) -> tuple[int, int, int]"),
      "DLPack's type code, bits and lanes, by which other libraries take it as a type.");
  // NumPy 2.4 and later look for __numpy_dtype__, older ones for dtype.
  c.def_prop_ro("__numpy_dtype__", &ToNumPyDType, nb::sig("def __numpy_dtype__(self) -> object"),
                "The numpy.dtype of the same elements: what numpy.dtype(t) gives. TypeError if\n"
                "neither NumPy nor ml_dtypes has one.");
  c.def_prop_ro("dtype", &ToNumPyDTypeIfAny, nb::sig("def dtype(self) -> object"),
                "The same for NumPy before 2.4; AttributeError if there is none.");
  c.def_prop_ro(
      "type", [](nb::handle self) { return nb::object(ToNumPyDTypeIfAny(self).attr("type")); },
      nb::sig("def type(self) -> object"),
      "NumPy's class of one element, such as numpy.float32, as numpy.dtype has it (which Dask\n"
      "asks for); AttributeError if there is none.");
  c.def("__repr__", &Repr);
  c.def("__str__", &Repr);
  c.def("__eq__", &Equals, nb::arg("other").none(),
        nb::sig("def __eq__(self, other: object, /) -> bool"));
  c.def("__hash__", [](DType t) { return HashOfText(t.ToString()); });
  c.def("__reduce__", [](DType t) {
    nb::object restore = nb::module_::import_("dovetail._pickle").attr("restore_dtype");
    return nb::make_tuple(restore, nb::make_tuple(t.ToString()));
  });
  dtype_class = reinterpret_cast<PyTypeObject*>(c.ptr());
  RefuseBareNew(dtype_class);
  for (size_t i = 0; i < std::size(kAllDTypes); ++i) {
    nb::object object = nb::cast(kAllDTypes[i]);
    m.attr(kAllDTypes[i].ToString().c_str()) = object;
    singletons[i] = object.release().ptr();
  }
}

PyObject* DTypeFunction(PyObject*, PyObject* value) {
  DType dtype;
  return ParseDType(value, &dtype) ? DTypeToPython(dtype) : nullptr;
}

}  // namespace dovetail::python
