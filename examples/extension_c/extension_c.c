// An extension module in plain C whose functions take float32 tensors of every library:
//
//   add(x, y, out)     writes x + y to out
//   normalize(x)       returns x / sqrt(sum(x^2)) as a new tensor of the library of x

#include <math.h>

#include "dovetail/python/capi.h"

// One dimension of size n. The sizes called n agree among the arguments of a call.
static const int64_t kVectorShape[] = {DOVETAIL_SIZE('n')};
static const DovetailRequirements kVector = {
    .dtype = {kDLFloat, 32, 1},
    .shape = kVectorShape,
    .ndim = 1,
    .flags = DOVETAIL_C_CONTIGUOUS,
};
static const DovetailRequirements kOutputVector = {
    .dtype = {kDLFloat, 32, 1},
    .shape = kVectorShape,
    .ndim = 1,
    .flags = DOVETAIL_C_CONTIGUOUS | DOVETAIL_WRITABLE,
};
// Any shape. A tensor with other strides is copied.
static const DovetailRequirements kElements = {
    .dtype = {kDLFloat, 32, 1},
    .flags = DOVETAIL_C_CONTIGUOUS | DOVETAIL_ALLOW_COPY,
};

static PyObject* Add(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  (void)module;
  if (count != 3) return PyErr_Format(PyExc_TypeError, "add() takes 3 arguments, not %zd", count);
  PyObject* result = NULL;
  DovetailCall call = {.function = "add"};
  DovetailBorrowed x, y, out;
  call.argument = "x";
  if (Dovetail_Borrow(arguments[0], &kVector, &call, &x) != 0) return NULL;
  call.argument = "y";
  if (Dovetail_Borrow(arguments[1], &kVector, &call, &y) != 0) goto release_x;
  call.argument = "out";
  if (Dovetail_Borrow(arguments[2], &kOutputVector, &call, &out) != 0) goto release_y;

  const float* x_data = x.tensor.data;
  const float* y_data = y.tensor.data;
  float* out_data = out.tensor.data;
  for (int64_t i = 0; i < out.tensor.shape[0]; ++i) out_data[i] = x_data[i] + y_data[i];
  Py_INCREF(Py_None);
  result = Py_None;

  Dovetail_Release(&out);
release_y:
  Dovetail_Release(&y);
release_x:
  Dovetail_Release(&x);
  return result;
}

static PyObject* Normalize(PyObject* module, PyObject* argument) {
  (void)module;
  PyObject* result = NULL;
  DovetailCall call = {.function = "normalize", .argument = "x"};
  DovetailBorrowed x;
  if (Dovetail_Borrow(argument, &kElements, &call, &x) != 0) return NULL;

  DLManagedTensorVersioned* made;
  if (Dovetail_Empty(x.tensor.dtype, x.tensor.device, x.tensor.ndim, x.tensor.shape, &made) == 0) {
    int64_t size = 1;
    for (int32_t i = 0; i < x.tensor.ndim; ++i) size *= x.tensor.shape[i];
    const float* x_data = x.tensor.data;
    float* made_data = made->dl_tensor.data;
    double squares = 0;
    for (int64_t i = 0; i < size; ++i) squares += (double)x_data[i] * x_data[i];
    const float norm = (float)sqrt(squares);
    for (int64_t i = 0; i < size; ++i) made_data[i] = x_data[i] / norm;
    result = Dovetail_ToPython(made, argument);
  }
  Dovetail_Release(&x);
  return result;
}

// Fails where the dovetail package is missing or too old.
static int Execute(PyObject* module) {
  (void)module;
  return Dovetail_ImportCApi() == NULL ? -1 : 0;
}

static PyMethodDef functions[] = {
    {"add", (PyCFunction)(void (*)(void))Add, METH_FASTCALL,
     "add(x, y, out, /)\n--\n\nWrite x + y to out: float32 tensors of one dimension."},
    {"normalize", Normalize, METH_O,
     "normalize(x, /)\n--\n\nReturn x / sqrt(sum(x^2)) as a tensor of the library of x."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void*)Execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "extension_c",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit_extension_c(void);
PyMODINIT_FUNC PyInit_extension_c(void) { return PyModuleDef_Init(&definition); }
