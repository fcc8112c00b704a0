// convert(x, target, /, *, copy=None): any library's tensor as any other's.
//
//   dt.convert(numpy_array, torch.Tensor)
//   dt.register_converter(MyTensor, MyTensor.from_tensor)
//   dt.convert(x, MyTensor)                                   // by that function
//   dt.convert(x, array_api_strict.Array)                     // by array_api_strict.from_dlpack()
//
// No library is imported unless its class is given, which imports it. A library that is not in the
// table of known classes (peer_table.h) is assumed to write to what it takes, so that read-only
// memory is copied; whether it shared the memory is told by the address of its result. Functions
// return nullptr or false with an error set. All need the GIL.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/accepted_memory.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/routes/import_object.h"

namespace dovetail::python {

// How a conversion went, for explain().
struct ConvertTrace {
  ImportTrace import;
  Tensor tensor;                 // of x, where it came in
  const char* misfit = nullptr;  // why the class does not take it without a copy
  bool target_copied = false;    // by a library that is not in the table
};

// convert(x, target, copy=copy), which fills `trace` in.
PyObject* ConvertTraced(PyObject* x, PyObject* target, std::optional<bool> copy,
                        ConvertTrace* trace);

inline bool ForbidsCopy(std::optional<bool> copy) { return !copy.value_or(true); }

// x as a tensor of ours.
inline bool TakeIn(PyObject* x, std::optional<bool> copy, ConvertTrace* trace, Tensor* tensor) {
  ImportRequest request;
  if (ForbidsCopy(copy)) request.copy = copy;  // other copies are made in Fit
  if (trace != nullptr) request.trace = &trace->import;
  if (!ImportAny(x, request, tensor)) return false;
  if (trace != nullptr) trace->tensor = *tensor;
  return true;
}

// The error of copy=False. `reason` follows "can't share this memory: ".
inline bool RaiseNotShared(std::string_view class_name, std::string_view reason) {
  RaiseExchange(absl::StrCat("A ", class_name, " can't share this memory: ", reason,
                             ". copy=False forbids the copy that it takes."));
  return false;
}

// Makes the tensor one that the library takes, by a copy if need be. `class_name` returns the name
// for an error.
template <typename ClassName>
bool Fit(const AcceptedMemory& accepts, ClassName class_name, std::optional<bool> copy,
         ConvertTrace* trace, Tensor* tensor, bool* copied) {
  const char* misfit = WhyRefused(accepts, *tensor);
  if (trace != nullptr) trace->misfit = misfit;
  *copied = misfit != nullptr || copy.value_or(false);
  if (!*copied) return true;
  if (!HeedNoCopies(&copy)) return false;
  if (ForbidsCopy(copy)) return RaiseNotShared(class_name(), absl::StrCat("the tensor ", misfit));
  return ReplaceByCopy(tensor->device(), tensor);
}

// Makes the error that a library's function raised for our tensor an ExchangeError. MemoryError,
// ExchangeError, ImportError (the library is not there) and what is no Exception stay unchanged.
inline std::nullptr_t RaiseOfConsumer(std::string_view library) {
  if (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError) ||
      PyErr_ExceptionMatches(PyExc_ImportError) || PyErr_ExceptionMatches(ExchangeError())) {
    return nullptr;
  }
  return RaiseExchangeFromSet(absl::StrCat(library, " does not take the tensor"));
}

// With an error in flight, which not every producer's deleter heeds.
template <typename T>
std::nullptr_t LetGo(T* held) {
  nanobind::error_scope in_flight;
  *held = T();
  return nullptr;
}

// To a class that is not in the table. TypeError for one with neither function. `trace` may be
// nullptr.
PyObject* ConvertToUnknown(PyObject* x, PyTypeObject* target, std::optional<bool> copy,
                           ConvertTrace* trace);

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_H_
