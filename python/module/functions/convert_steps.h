// The steps of a conversion that known and unknown classes share.
//
//   Tensor tensor;
//   bool copied;
//   if (!TakeIn(x, copy, trace, &tensor) ||
//       !Fit(accepts, name, copy, trace, &tensor, &copied)) return LetGo(&tensor);
//
// All need the GIL, and return false with an error set.

#ifndef DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_STEPS_H_
#define DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_STEPS_H_

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
#include "dovetail/python/module/functions/convert.h"

namespace dovetail::python {

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

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_FUNCTIONS_CONVERT_STEPS_H_
