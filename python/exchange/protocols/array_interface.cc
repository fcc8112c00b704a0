#include "dovetail/python/exchange/protocols/array_interface.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/interop/buffer/strided.h"
#include "dovetail/interop/cuda_array/export.h"
#include "dovetail/interop/cuda_array/import.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"

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

ExchangeResult ImportByFields(PyObject* x, const char* attribute,
                              bool (*take)(PyObject* x, const ArrayFields& fields, Tensor* tensor),
                              Tensor* tensor) {
  ArrayFields fields;
  if (!fields.Read(x, attribute)) return ExchangeResult::kError;
  if (!fields.found()) return ExchangeResult::kNotTaken;
  return take(x, fields, tensor) ? ExchangeResult::kDone : ExchangeResult::kError;
}

namespace {

constexpr char kArrayInterface[] = "__array_interface__";
constexpr int64_t kVersion = 3;

// The memory is a buffer: the entry "data", or x itself. `owner` holds it.
bool DescribeBufferOf(PyObject* x, const ArrayFields& fields, ArrayDescription* array,
                      nb::object* owner) {
  PyObject* data = fields.data() == Py_None ? x : fields.data();
  if (!PyObject_CheckBuffer(data)) {
    return fields.Refuse("its entry \"data\" is neither a pair (address, read-only) nor a buffer");
  }
  nb::object view = nb::steal(PyMemoryView_FromObject(data));
  std::optional<int64_t> offset;
  if (!view.is_valid() || !fields.FindInt("offset", &offset)) return false;
  const Py_buffer* buffer = PyMemoryView_GET_BUFFER(view.ptr());
  if (!PyBuffer_IsContiguous(buffer, 'C')) return fields.Refuse("its buffer has gaps");
  const int64_t first = offset.value_or(0);
  if (first < 0 || first > buffer->len) {
    return fields.Refuse(
        absl::StrCat("its offset is ", first, ", in a buffer of ", buffer->len, " bytes"));
  }
  *array = fields.Describe();
  array->data = static_cast<char*>(buffer->buf) + first;
  array->read_only = buffer->readonly != 0;
  array->within = {static_cast<const char*>(buffer->buf), static_cast<size_t>(buffer->len)};
  *owner = nb::steal(PyTuple_Pack(2, x, view.ptr()));
  return owner->is_valid();
}

bool TakeArray(PyObject* x, const ArrayFields& fields, Tensor* tensor) {
  std::optional<int64_t> version;
  if (!CheckUnmasked(x) || !fields.FindInt("version", &version)) return false;
  if (version.value_or(kVersion) != kVersion) {
    return fields.Refuse(
        absl::StrCat("it has version ", *version, ", and only ", kVersion, " is understood"));
  }
  ArrayDescription array;
  nb::object owner = nb::borrow(x);
  if (!(fields.has_address() ? fields.DescribeAddress(&array)
                             : DescribeBufferOf(x, fields, &array, &owner))) {
    return false;
  }
  BufferLayout memory;
  if (absl::Status s = DescribeArray(array, &memory); !s.ok()) return RaiseExchange(s), false;
  *tensor = AdoptBuffer(std::move(memory), Device::Cpu(), ReleaseObject(owner.ptr()));
  owner.release();  // only now is it the tensor's: nothing was taken if memory ran out
  return true;
}

}  // namespace

ExchangeResult ImportByArrayInterface(PyObject* x, Tensor* tensor) {
  return ImportByFields(x, kArrayInterface, &TakeArray, tensor);
}

namespace {

nb::object ByteStrides(const Tensor& tensor) {
  if (tensor.is_contiguous()) return nb::none();
  Dims strides(tensor.rank());
  FillByteStrides(tensor.layout(), tensor.dtype().itemsize(), strides.data());
  return nb::steal(ShapeToPython(strides));
}

}  // namespace

PyObject* ArrayInterfaceDict(const Tensor& tensor, const std::string& typestr, const void* data) {
  nb::object shape = nb::steal(ShapeToPython(tensor.shape()));
  nb::object strides = ByteStrides(tensor);
  nb::object address = nb::steal(PyLong_FromVoidPtr(const_cast<void*>(data)));
  if (!shape.is_valid() || !strides.is_valid() || !address.is_valid()) return nullptr;
  return Py_BuildValue("{s:L,s:O,s:s,s:(OO),s:O}", "version", static_cast<long long>(kVersion),
                       "shape", shape.ptr(), "typestr", typestr.c_str(), "data", address.ptr(),
                       tensor.is_read_only() ? Py_True : Py_False, "strides", strides.ptr());
}

namespace {

constexpr char kCudaArrayInterface[] = "__cuda_array_interface__";

bool TakeCudaArray(PyObject* x, const ArrayFields& fields, Tensor* tensor) {
  CudaArrayDescription array;
  std::optional<int64_t> version;
  if (!fields.DescribeAddress(&array.array) || !fields.FindInt("version", &version) ||
      !fields.FindInt("stream", &array.stream)) {
    return false;
  }
  if (!version) return fields.Refuse("it has no entry \"version\"");
  array.version = *version;
  absl::Status status = ImportCudaArray(array, ReleaseObject(Py_NewRef(x)), tensor);
  return status.ok() || (RaiseExchange(status), false);
}

}  // namespace

ExchangeResult ImportByCudaArrayInterface(PyObject* x, Tensor* tensor) {
  return ImportByFields(x, kCudaArrayInterface, &TakeCudaArray, tensor);
}

PyObject* ExportCudaArrayInterface(const Tensor& tensor) {
  absl::StatusOr<CudaArrayExport> out = ExportCudaArray(tensor);
  if (absl::IsInvalidArgument(out.status())) {
    return Raise(PyExc_AttributeError,
                 absl::StrCat(kCudaArrayInterface, " is absent: ", out.status().message()));
  }
  if (!out.ok()) return RaiseExchange(out.status());
  nb::object dict = nb::steal(ArrayInterfaceDict(tensor, out->typestr, out->data));
  nb::object stream = out->stream ? nb::steal(PyLong_FromLongLong(*out->stream)) : nb::none();
  if (!dict.is_valid() || !stream.is_valid() ||
      PyDict_SetItemString(dict.ptr(), "stream", stream.ptr()) != 0) {
    return nullptr;
  }
  return dict.release().ptr();
}

bool HasArrayMethod(PyObject* x) {
  static constinit InternedName name("__array__");
  PyObject* const method = _PyType_Lookup(Py_TYPE(x), name.get());
  return method != nullptr && method != Py_None;
}

nb::object CallArrayMethod(PyObject* x) {
  nb::object array = nb::steal(PyObject_CallMethod(x, "__array__", nullptr));
  if (!array.is_valid() || numpy_ndarray.IsBaseOf(Py_TYPE(array.ptr()))) return array;
  PyErr_Format(PyExc_TypeError, "%.200s.__array__() returned %.200s, not an array of NumPy",
               Py_TYPE(x)->tp_name, Py_TYPE(array.ptr())->tp_name);
  return {};
}

bool CheckUnmasked(PyObject* x) {
  if (!numpy_masked_array.IsBaseOf(Py_TYPE(x))) return true;
  nb::object ma = nb::steal(PyImport_ImportModule("numpy.ma"));
  if (!ma.is_valid()) return false;
  nb::object masked = nb::steal(PyObject_CallMethod(ma.ptr(), "is_masked", "O", x));
  const int is_masked = masked.is_valid() ? PyObject_IsTrue(masked.ptr()) : -1;
  if (is_masked > 0) {
    RaiseExchange(
        "The array has masked elements, and a tensor has no mask. Give them values first, as in "
        "x.filled(0), or take the others, x.compressed().");
  }
  return is_masked == 0;
}

}  // namespace dovetail::python
