#include "dovetail/python/exchange/protocols/array_interface_in.h"

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/protocols/array_fields.h"
#include "dovetail/python/exchange/protocols/array_method_in.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr char kAttribute[] = "__array_interface__";
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

bool Take(PyObject* x, const ArrayFields& fields, Tensor* tensor) {
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
  ArrayFields fields;
  if (!fields.Read(x, kAttribute)) return ExchangeResult::kError;
  if (!fields.found()) return ExchangeResult::kNotTaken;
  return Take(x, fields, tensor) ? ExchangeResult::kDone : ExchangeResult::kError;
}

}  // namespace dovetail::python
