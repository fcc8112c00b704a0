#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"

#include "dovetail/core/copy.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {

PyObject* ViewOf(PyObject* self, absl::StatusOr<Tensor> tensor) {
  return WrapTensor(std::move(tensor), AsTensorObject(self)->requires_grad.load());
}

PyObject* PermuteMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  Dims order;
  if (!ParseDims(args, nargs, &order)) return nullptr;
  return ViewOf(self, AsTensor(self).Permute(order));
}

PyObject* ReverseDims(PyObject* self) {
  const Tensor& tensor = AsTensor(self);
  Dims order;
  for (int i = tensor.rank() - 1; i >= 0; --i) order.push_back(i);
  return ViewOf(self, tensor.Permute(order));
}

// transpose(dim0, dim1) as in torch; transpose() and transpose(order) as in NumPy.
PyObject* TransposeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs == 0) return ReverseDims(self);
  Dims dims;
  if (!ParseDims(args, nargs, &dims)) return nullptr;
  if (nargs == 2) return ViewOf(self, AsTensor(self).Transpose(dims[0], dims[1]));
  return ViewOf(self, AsTensor(self).Permute(dims));
}

// A view where strides can say it, else a copy, as in NumPy and torch.
PyObject* ReshapeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  Dims shape;
  if (!ParseDims(args, nargs, &shape)) return nullptr;
  absl::StatusOr<Tensor> view = AsTensor(self).Reshape(shape);
  if (!absl::IsFailedPrecondition(view.status())) return ViewOf(self, std::move(view));
  const Tensor source = AsTensor(self);
  absl::StatusOr<Tensor> dense = WithoutGilIf(IsLong(source), [&] { return AsContiguous(source); });
  return ViewOf(self, dense.ok() ? dense->Reshape(shape) : std::move(dense));
}

PyObject* DetachMethod(PyObject* self, PyObject*) { return WrapTensor(Tensor(AsTensor(self))); }

bool MarkRequiresGrad(PyObject* self, bool value) {
  const DType dtype = AsTensor(self).dtype();
  if (value && !MayRequireGrad(dtype.kind)) {
    Raise(PyExc_ValueError, "Only floating-point and complex tensors can require gradients, not " +
                                dtype.ToString() + ".");
    return false;
  }
  AsTensorObject(self)->requires_grad.store(value);
  return true;
}

PyObject* RequiresGradMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs > 1 || (nargs == 1 && !PyBool_Check(args[0]))) {
    PyErr_SetString(PyExc_TypeError, "requires_grad_() takes True (the default) or False");
    return nullptr;
  }
  if (!MarkRequiresGrad(self, nargs == 0 || args[0] == Py_True)) return nullptr;
  return Py_NewRef(self);
}

PyObject* DataPointerMethod(PyObject* self, PyObject*) {
  return PyLong_FromVoidPtr(AsTensor(self).raw_data());
}

PyObject* IsContiguousMethod(PyObject* self, PyObject*) {
  return PyBool_FromLong(AsTensor(self).is_contiguous());
}

}  // namespace dovetail::python
