#include "dovetail/python/exchange/peers/user_types.h"

#include <nanobind/nanobind.h>

#include <iterator>
#include <string_view>

#include "dovetail/python/exchange/base/gil_guarded.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// numpy/ndarraytypes.h, NPY_USERDEF: the number of the first registered type. A number is given
// out once.
constexpr int kFirstNumber = 256;
constexpr int kNumbers = 128;

constexpr DType kNoDType = {};

// What was found for a number: nullptr if nobody asked, &kNoDType for a type that we lack.
struct Cell {
  GilGuarded<const DType*> dtype{nullptr};
};
constinit Cell cells[kNumbers];

// The entry of the list with this name whose elements have this many bytes.
const DType* FindInList(std::string_view name, int64_t itemsize) {
  absl::StatusOr<DType> parsed = DType::Parse(name);
  if (!parsed.ok() || parsed->itemsize() != itemsize || NumPyFromDType(*parsed) >= 0) {
    return &kNoDType;
  }
  for (const DType& listed : kAllDTypes) {
    if (listed == *parsed) return &listed;
  }
  return &kNoDType;
}

// Asks the numpy.dtype. nullptr if it can't tell now, for want of memory.
const DType* Ask(PyObject* descr) {
  const nb::object name = nb::steal(PyObject_GetAttrString(descr, "name"));
  const nb::object itemsize = nb::steal(PyObject_GetAttrString(descr, "itemsize"));
  const char* const text = name.is_valid() ? PyUnicode_AsUTF8(name.ptr()) : nullptr;
  const Py_ssize_t bytes = itemsize.is_valid() ? PyLong_AsSsize_t(itemsize.ptr()) : -1;
  if (text != nullptr && bytes >= 0) return FindInList(text, bytes);
  PyErr_Clear();
  return nullptr;
}

}  // namespace

const DType* FindUserDType(NumPyDescr* descr) {
  const auto i = static_cast<unsigned>(descr->type_num - kFirstNumber);
  if (i >= kNumbers) return nullptr;
  const DType* dtype = cells[i].dtype.load();
  if (dtype == nullptr) {
    dtype = Ask(reinterpret_cast<PyObject*>(descr));
    cells[i].dtype.store(dtype);
  }
  return dtype == &kNoDType ? nullptr : dtype;
}

}  // namespace dovetail::python
