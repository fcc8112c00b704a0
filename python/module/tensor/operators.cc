#include <nanobind/nanobind.h>

#include <cmath>

#include "dovetail/core/internal/float_format.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/slots.h"
#include "dovetail/python/module/values/data_kind.h"
#include "dovetail/python/module/values/scalar.h"
#include "dovetail/python/module/values/values.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

PyObject* Refuse() {
  return Raise(PyExc_TypeError,
               "dovetail.Tensor has no arithmetic; t.numpy() or dovetail.convert(t, torch.Tensor) "
               "shares its memory with a library that has");
}

// Whether an operand leaves the operator to the tensor.
bool IsPlain(PyObject* operand) {
  return IsTensor(operand) || PyLong_Check(operand) || PyFloat_CheckExact(operand) ||
         PyComplex_CheckExact(operand);
}

PyObject* RefuseTwo(PyObject* a, PyObject* b) {
  if (IsPlain(a) && IsPlain(b)) return Refuse();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* RefuseThree(PyObject* a, PyObject* b, PyObject*) { return RefuseTwo(a, b); }

PyObject* RefuseOne(PyObject*) { return Refuse(); }

}  // namespace

void RefuseArithmetic(PyNumberMethods* n) {
  for (binaryfunc* slot :
       {&n->nb_add, &n->nb_subtract, &n->nb_multiply, &n->nb_true_divide, &n->nb_floor_divide,
        &n->nb_remainder, &n->nb_divmod, &n->nb_matrix_multiply, &n->nb_lshift, &n->nb_rshift,
        &n->nb_and, &n->nb_or, &n->nb_xor}) {
    *slot = &RefuseTwo;
  }
  for (unaryfunc* slot : {&n->nb_negative, &n->nb_positive, &n->nb_absolute, &n->nb_invert}) {
    *slot = &RefuseOne;
  }
  n->nb_power = &RefuseThree;
}

namespace {

bool IsOneElement(PyObject* x) { return IsTensor(x) && AsTensor(x).num_elements() == 1; }

// Python's int, float and complex as the nearest number of a floating-point type, so that a float32
// made of 0.1 equals 0.1; the number itself where the type has none that is near.
nb::object Rounded(PyObject* number, DType dtype) {
  const bool is_exact =
      PyLong_CheckExact(number) || PyFloat_CheckExact(number) || PyComplex_CheckExact(number);
  const bool rounds = dtype.is_complex() || FloatFormatOf(dtype).has_value();
  if (!is_exact || !rounds) return nb::borrow(number);
  alignas(kMaxElementBytes) char element[kMaxElementBytes];
  nb::object rounded;
  if (ElementFromPython(number, dtype, element)) {
    rounded = nb::steal(ElementToPython(element, 0, dtype));
  }
  PyErr_Clear();
  // Out of the type's range it is unequal to all numbers of the type.
  const bool in_range = rounded.is_valid() && !(PyFloat_CheckExact(rounded.ptr()) &&
                                                std::isinf(PyFloat_AS_DOUBLE(rounded.ptr())));
  return in_range ? rounded : nb::borrow(number);
}

// The number that `x` stands for beside a tensor of `dtype`. NumPy's scalars would round ours.
nb::object NumberOf(PyObject* x, DType dtype) {
  if (IsTensor(x)) return nb::steal(TensorItemMethod(x, nullptr));
  if (!numpy_scalar.IsBaseOf(Py_TYPE(x))) return Rounded(x, dtype);
  return nb::steal(PyObject_CallMethod(x, "item", nullptr));
}

PyObject* CompareNumbers(PyObject* self, PyObject* other, int op) {
  nb::object ours = nb::steal(TensorItemMethod(self, nullptr));
  if (!ours.is_valid()) return nullptr;
  nb::object theirs = NumberOf(other, AsTensor(self).dtype());
  return theirs.is_valid() ? PyObject_RichCompare(ours.ptr(), theirs.ptr(), op) : nullptr;
}

// What other's class makes of it: arrays of NumPy compare element by element. NotImplemented where
// it has no answer.
PyObject* AskOther(PyObject* self, PyObject* other, int op) {
  constexpr int kSwapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};  // of Py_LT … Py_GE
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  richcmpfunc compare = Py_TYPE(other)->tp_richcompare;
  if (compare == nullptr || IsTensor(other)) return Py_NewRef(Py_NotImplemented);
  return compare(other, self, kSwapped[op]);
}

PyObject* RefuseElementwise(PyObject* self, PyObject* other) {
  PyErr_Format(PyExc_TypeError,
               "a tensor of %lld elements and %.200s can't be compared as one number; compare "
               "element by element in NumPy, as in t.numpy() == x, or t.tolist() with a list",
               static_cast<long long>(AsTensor(self).num_elements()), Py_TYPE(other)->tp_name);
  return nullptr;
}

}  // namespace

PyObject* TensorCompare(PyObject* self, PyObject* other, int op) {
  bool is_number;
  if (!FindNumber(other, &is_number)) return nullptr;
  if (IsOneElement(self) && (is_number || IsOneElement(other))) {
    return CompareNumbers(self, other, op);
  }
  nb::object answer = nb::steal(AskOther(self, other, op));
  if (answer.ptr() != Py_NotImplemented) return answer.release().ptr();
  DataKind kind;
  nb::object array;
  if (!Classify(other, &kind, &array)) return nullptr;
  if (kind == DataKind::kArray && IsOneElement(self) && IsOneElement(array.ptr())) {
    return CompareNumbers(self, array.ptr(), op);
  }
  if (kind != DataKind::kOther) return RefuseElementwise(self, other);
  if (op == Py_EQ || op == Py_NE) return PyBool_FromLong(op == Py_NE);
  return Py_NewRef(Py_NotImplemented);
}

}  // namespace dovetail::python
