// Results for nanobind's functions: an error becomes the Python exception that RaiseStatus sets.
//
//   return OrThrow(pool.Stats());

#ifndef DOVETAIL_PYTHON_MODULE_OBJECTS_OR_THROW_H_
#define DOVETAIL_PYTHON_MODULE_OBJECTS_OR_THROW_H_

#include <nanobind/nanobind.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dovetail/python/exchange/base/error.h"

namespace dovetail::python {

inline void OrThrow(const absl::Status& status) {
  if (status.ok()) return;
  RaiseStatus(status);
  throw nanobind::python_error();
}

template <typename T>
T OrThrow(absl::StatusOr<T> value) {
  OrThrow(value.status());
  return *std::move(value);
}

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_MODULE_OBJECTS_OR_THROW_H_
