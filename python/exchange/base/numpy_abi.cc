#include "dovetail/python/exchange/base/numpy_abi.h"

#include <nanobind/nanobind.h>

#include <bit>
#include <iterator>

#include "dovetail/python/exchange/base/gil_guarded.h"
#include "dovetail/python/exchange/base/peer_type.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

constexpr DType kLong = sizeof(long) == 8 ? kInt64 : kInt32;
constexpr DType kULong = sizeof(long) == 8 ? kUInt64 : kUInt32;

struct NumPyTypePair {
  int type_num;
  DType dtype;
};

// NumPy's numbers follow C's types, so that two may mean one DType. Export takes the first.
constexpr NumPyTypePair kTypes[] = {
    {0, kBool},     {1, kInt8},       {2, kUInt8},       {3, kInt16},
    {4, kUInt16},   {5, kInt32},      {6, kUInt32},      {7, kLong},
    {8, kULong},    {9, kInt64},      {10, kUInt64},     {11, kFloat32},
    {12, kFloat64}, {14, kComplex64}, {15, kComplex128}, {23, kFloat16},
};
constexpr int kTypeNumbers = 24;

struct ByNumber {
  DType dtype[kTypeNumbers] = {};
  bool known[kTypeNumbers] = {};
};
constexpr ByNumber MakeByNumber() {
  ByNumber table;
  for (const NumPyTypePair& p : kTypes) {
    table.dtype[p.type_num] = p.dtype;
    table.known[p.type_num] = true;
  }
  return table;
}
constexpr ByNumber kByNumber = MakeByNumber();

// All widths are powers of two.
constexpr int WidthPlace(DType dtype) { return std::countr_zero(dtype.bits); }
struct ByDType {
  int8_t type_num[8][8];
};
constexpr ByDType MakeByDType() {
  ByDType table;
  for (auto& of_kind : table.type_num) {
    for (int8_t& number : of_kind) number = -1;
  }
  for (const NumPyTypePair& p : kTypes) {
    int8_t& number = table.type_num[static_cast<size_t>(p.dtype.kind)][WidthPlace(p.dtype)];
    if (number < 0) number = static_cast<int8_t>(p.type_num);
  }
  return table;
}
constexpr ByDType kByDType = MakeByDType();

// Places in the table of functions, numpy/__multiarray_api.h.
constexpr int kVersionPlace = 0;
constexpr int kArrayTypePlace = 2;
constexpr int kDescrFromTypePlace = 45;
constexpr int kNewFromDescrPlace = 94;
constexpr int kSetBaseObjectPlace = 282;

// The table of functions of an imported NumPy, or nullptr.
void** FindTable() {
  for (const char* name : {"numpy._core._multiarray_umath", "numpy.core._multiarray_umath"}) {
    nb::object key = nb::steal(PyUnicode_FromString(name));
    nb::object module = key.is_valid() ? nb::steal(PyImport_GetModule(key.ptr())) : nb::object();
    if (!module.is_valid()) continue;
    nb::object capsule = nb::steal(PyObject_GetAttrString(module.ptr(), "_ARRAY_API"));
    if (!capsule.is_valid() || !PyCapsule_CheckExact(capsule.ptr())) continue;
    return static_cast<void**>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  }
  return nullptr;
}

// 1.x and 2.x differ in nothing that is used here.
bool IsKnownAbi(unsigned version) { return version == 0x01000009 || version == 0x02000000; }

// The functions of an imported NumPy, kept for the life of the process; nullptr for none that is
// known.
[[gnu::noinline]] const NumPyAbi* LoadNumPy() {
  void** table = FindTable();
  PyErr_Clear();
  if (table == nullptr || !IsKnownAbi(reinterpret_cast<unsigned (*)()>(table[kVersionPlace])())) {
    return nullptr;
  }
  auto* abi = new NumPyAbi;
  abi->ndarray = static_cast<PyTypeObject*>(table[kArrayTypePlace]);
  abi->descr_from_type =
      reinterpret_cast<decltype(abi->descr_from_type)>(table[kDescrFromTypePlace]);
  abi->new_from_descr = reinterpret_cast<decltype(abi->new_from_descr)>(table[kNewFromDescrPlace]);
  abi->set_base_object =
      reinterpret_cast<decltype(abi->set_base_object)>(table[kSetBaseObjectPlace]);
  return abi;
}

}  // namespace

const NumPyAbi* LoadedNumPy() {
  static constinit GilGuarded<const NumPyAbi*> loaded(nullptr);
  const NumPyAbi* abi = loaded.load();
  if (abi == nullptr) [[unlikely]] {
    abi = LoadNumPy();
    if (abi != nullptr) loaded.store(abi);
  }
  return abi;
}

PyObject* NewDescr(const NumPyAbi& numpy, int type_num) {
  // NumPy has one of each for as long as it is loaded. (Without the GIL it is asked every time.)
#ifndef Py_GIL_DISABLED
  static PyObject* known[kTypeNumbers];
  if (const auto i = static_cast<unsigned>(type_num); i < kTypeNumbers) {
    if (known[i] == nullptr) known[i] = numpy.descr_from_type(type_num);
    return Py_XNewRef(known[i]);
  }
#endif
  return numpy.descr_from_type(type_num);
}

const DType* DTypeFromNumPy(int type_num) {
  const auto i = static_cast<unsigned>(type_num);
  return i < kTypeNumbers && kByNumber.known[i] ? &kByNumber.dtype[i] : nullptr;
}

int NumPyFromDType(DType dtype) {
  const bool listed = dtype.lanes == 1 && (dtype.bits & (dtype.bits - 1)) == 0 &&
                      static_cast<size_t>(dtype.kind) < std::size(kByDType.type_num);
  return listed ? kByDType.type_num[static_cast<size_t>(dtype.kind)][WidthPlace(dtype)] : -1;
}

bool IsNumPyTime(PyObject* x) {
  PyTypeObject* const type = Py_TYPE(x);
  return numpy_datetime.IsBaseOf(type) || numpy_timedelta.IsBaseOf(type);
}

}  // namespace dovetail::python
