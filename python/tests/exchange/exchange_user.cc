// An extension module that links the exchange library and nothing of the dovetail package.

#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/exchange.h"

namespace nb = nanobind;

namespace {

nb::object RoundTrip(nb::handle object, nb::handle type) {
  dovetail::Tensor tensor;
  if (!dovetail::python::FromPython(object.ptr(), &tensor)) throw nb::python_error();
  PyObject* made = dovetail::python::ToPython(tensor, type.ptr());
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

uintptr_t BorrowedAddress(nb::handle object) {
  absl::StatusOr<dovetail::python::BorrowedTensor> borrowed =
      dovetail::python::Borrow(object.ptr());
  if (!borrowed.ok()) throw nb::python_error();
  return reinterpret_cast<uintptr_t>(borrowed->view().data);
}

nb::object Capsule(nb::handle object) {
  dovetail::Tensor tensor;
  if (!dovetail::python::FromPython(object.ptr(), &tensor)) throw nb::python_error();
  PyObject* capsule = dovetail::python::ToCapsule(tensor);
  if (capsule == nullptr) throw nb::python_error();
  return nb::steal(capsule);
}

}  // namespace

NB_MODULE(exchange_user, m) {
  m.def("round_trip", &RoundTrip);
  m.def("borrowed_address", &BorrowedAddress);
  m.def("capsule", &Capsule);
}
