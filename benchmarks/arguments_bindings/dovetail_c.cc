// The functions with the C interface, as a plain extension module over the installed package.

#include <Python.h>

#include <array>
#include <span>
#include <utility>

#include "dovetail/benchmarks/arguments_bindings/functions.h"
#include "dovetail/python/capi.h"

namespace {

constexpr int64_t kAnyVector[] = {DOVETAIL_ANY_SIZE};
constexpr DovetailRequirements kIn = {.dtype = {kDLFloat, 32, 1},
                                      .device_type = DOVETAIL_HOST_MEMORY,
                                      .shape = kAnyVector,
                                      .strides = nullptr,
                                      .ndim = 1,
                                      .alignment = alignof(float),
                                      .flags = DOVETAIL_C_CONTIGUOUS};
constexpr DovetailRequirements kOut = {.dtype = {kDLFloat, 32, 1},
                                       .device_type = DOVETAIL_HOST_MEMORY,
                                       .shape = kAnyVector,
                                       .strides = nullptr,
                                       .ndim = 1,
                                       .alignment = alignof(float),
                                       .flags = DOVETAIL_C_CONTIGUOUS | DOVETAIL_WRITABLE};

std::span<float> Elements(const DovetailBorrowed& x) {
  return {static_cast<float*>(x.tensor.data), static_cast<size_t>(x.shape[0])};
}

template <size_t kCount, size_t... kInputs>
void Compute(std::array<DovetailBorrowed, kCount>& x, bool writes,
             std::index_sequence<kInputs...>) {
  using dovetail_benchmarks::AddInto;
  if (!writes)
    return AddInto(dovetail_benchmarks::kept_sums, Elements(x[kInputs])...,
                   Elements(x[kCount - 1]));
  if constexpr (kCount == 1) {
    dovetail_benchmarks::Increment(Elements(x[0]));
  } else {
    AddInto(Elements(x[kCount - 1]), Elements(x[kInputs])...);
  }
}

// A function of kCount arguments, the last of which it writes if kWrites.
template <size_t kCount, bool kWrites>
PyObject* Function(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != static_cast<Py_ssize_t>(kCount)) {
    PyErr_Format(PyExc_TypeError, "the function takes %zu arguments, not %zd", kCount, nargs);
    return nullptr;
  }
  DovetailCall call = {};
  std::array<DovetailBorrowed, kCount> x;
  size_t borrowed = 0;
  for (; borrowed < kCount; ++borrowed) {
    const bool is_output = kWrites && borrowed + 1 == kCount;
    if (Dovetail_Borrow(args[borrowed], is_output ? &kOut : &kIn, &call, &x[borrowed]) != 0) break;
  }
  if (borrowed == kCount) Compute(x, kWrites, std::make_index_sequence<kCount - 1>());
  for (size_t i = 0; i < borrowed; ++i) Dovetail_Release(&x[i]);
  return borrowed == kCount ? Py_NewRef(Py_None) : nullptr;
}

PyObject* Kept(PyObject*, PyObject*) {
  return PyFloat_FromDouble(dovetail_benchmarks::kept_sums[0]);
}

template <size_t kCount, bool kWrites>
PyMethodDef Method(const char* name) {
  return {name, reinterpret_cast<PyCFunction>(&Function<kCount, kWrites>), METH_FASTCALL, nullptr};
}

PyMethodDef methods[] = {
    Method<1, true>("f1"),
    Method<3, true>("f3"),
    Method<8, true>("f8"),
    Method<1, false>("r1"),
    Method<3, false>("r3"),
    Method<8, false>("r8"),
    {"kept", &Kept, METH_NOARGS, nullptr},
    {},
};
PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "dovetail_c", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_dovetail_c() { return PyModule_Create(&module); }
