#include "dovetail/python/module/tensor/slots.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/module/objects/tensor_object.h"

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

}  // namespace dovetail::python
