// An extension module in C that calls each function of capi.h with the arguments that Python gives.

#include <stdlib.h>
#include <string.h>

#include "dovetail/python/capi.h"

enum { kMaxArguments = 12 };

static long long deleted = 0;  // managed tensors of MakeManaged() that were dropped

static PyObject* TupleOf(const int64_t* values, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  for (int32_t i = 0; tuple != NULL && i < count; ++i) {
    PyTuple_SET_ITEM(tuple, i, PyLong_FromLongLong(values[i]));
  }
  return tuple;
}

// The number of entries, or -1 with an error. None has none.
static Py_ssize_t ReadSizes(PyObject* tuple, int64_t* values) {
  if (tuple == Py_None) return 0;
  const Py_ssize_t count = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < count; ++i) {
    values[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i));
  }
  return PyErr_Occurred() ? -1 : count;
}

static PyObject* Describe(const DovetailBorrowed* borrowed) {
  const DLTensor* tensor = &borrowed->tensor;
  return Py_BuildValue(
      "{s:K, s:N, s:N, s:(iii), s:(ii), s:K, s:K, s:K, s:O, s:i}", "data",
      (unsigned long long)(uintptr_t)tensor->data, "shape", TupleOf(tensor->shape, tensor->ndim),
      "strides", TupleOf(tensor->strides, tensor->ndim), "dtype", (int)tensor->dtype.code,
      (int)tensor->dtype.bits, (int)tensor->dtype.lanes, "device", (int)tensor->device.device_type,
      (int)tensor->device.device_id, "byte_offset", (unsigned long long)tensor->byte_offset,
      "flags", (unsigned long long)borrowed->flags, "stream",
      (unsigned long long)(uintptr_t)borrowed->stream, "object", borrowed->object, "held",
      borrowed->held != NULL);
}

// borrow(*objects, requirements...) borrows all objects in one call of a function with the same
// requirements. It returns a list of what they are, and the call's state; a quiet refusal is 1.
static PyObject* BorrowAll(PyObject* module, PyObject* objects, PyObject* options) {
  (void)module;
  static char* names[] = {"dtype", "device",   "shape", "strides", "ndim", "alignment",
                          "flags", "function", "names", "quiet",   "call", NULL};
  int64_t shape[DOVETAIL_MAX_NDIM], strides[DOVETAIL_MAX_NDIM];
  DovetailRequirements wanted = {.device_type = DOVETAIL_HOST_MEMORY};
  DovetailCall call = {.function = NULL};
  PyObject *wanted_shape = Py_None, *wanted_strides = Py_None, *argument_names = Py_None;
  int with_call = 1;
  PyObject* none = PyTuple_New(0);
  const int parsed = PyArg_ParseTupleAndKeywords(
      none, options, "|$(bbH)iOOiIIzOip", names, &wanted.dtype.code, &wanted.dtype.bits,
      &wanted.dtype.lanes, &wanted.device_type, &wanted_shape, &wanted_strides, &wanted.ndim,
      &wanted.alignment, &wanted.flags, &call.function, &argument_names, &call.is_quiet,
      &with_call);
  Py_DECREF(none);
  if (!parsed) return NULL;
  if (ReadSizes(wanted_shape, shape) < 0 || ReadSizes(wanted_strides, strides) < 0) return NULL;
  if (wanted_shape != Py_None) wanted.shape = shape;
  if (wanted_strides != Py_None) wanted.strides = strides;

  DovetailBorrowed borrowed[kMaxArguments];
  const Py_ssize_t count = PyTuple_GET_SIZE(objects);
  PyObject* results = PyList_New(0);
  int result = 0;
  Py_ssize_t done = 0;
  for (; done < count && done < kMaxArguments; ++done) {
    if (argument_names != Py_None) {
      call.argument = PyUnicode_AsUTF8(PyTuple_GetItem(argument_names, done));
    }
    result = Dovetail_Borrow(PyTuple_GET_ITEM(objects, done), &wanted, with_call ? &call : NULL,
                             &borrowed[done]);
    if (result != 0) break;
    PyObject* text = Describe(&borrowed[done]);
    PyList_Append(results, text);
    Py_XDECREF(text);
  }
  for (Py_ssize_t i = 0; i < done; ++i) {
    Dovetail_Release(&borrowed[i]);
    Dovetail_Release(&borrowed[i]);  // a second release does nothing
  }
  if (result == 1) {
    Py_DECREF(results);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(1);
  }
  if (result != 0) {
    Py_DECREF(results);
    return NULL;
  }
  PyObject* sizes = PyList_New(0);
  for (int32_t i = 0; i < call.num_sizes; ++i) {
    PyObject* size = Py_BuildValue("(LLi)", (long long)call.sizes[i].name,
                                   (long long)call.sizes[i].size, (int)call.sizes[i].position);
    PyList_Append(sizes, size);
    Py_XDECREF(size);
  }
  return Py_BuildValue("(NiN)", results, (int)call.position, sizes);
}

// bytes_after(object, nbytes, action) borrows the object, calls action(), and returns the bytes that
// are then in the borrowed memory.
static PyObject* BytesAfter(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject *object, *action;
  Py_ssize_t nbytes;
  if (!PyArg_ParseTuple(arguments, "OnO", &object, &nbytes, &action)) return NULL;
  const DovetailRequirements wanted = {.device_type = DOVETAIL_HOST_MEMORY};
  DovetailBorrowed borrowed;
  if (Dovetail_Borrow(object, &wanted, NULL, &borrowed) != 0) return NULL;
  PyObject* bytes = NULL;
  PyObject* done = PyObject_CallNoArgs(action);
  if (done != NULL) bytes = PyBytes_FromStringAndSize(borrowed.tensor.data, nbytes);
  Py_XDECREF(done);
  Dovetail_Release(&borrowed);
  return bytes;
}

static void DropCapsule(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;  // a consumer has it
  DLManagedTensorVersioned* managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  managed->deleter(managed);
}

static PyObject* ToCapsule(DLManagedTensorVersioned* managed) {
  PyObject* capsule = PyCapsule_New(managed, "dltensor_versioned", &DropCapsule);
  if (capsule == NULL) managed->deleter(managed);
  return capsule;
}

static PyObject* FromPython(PyObject* module, PyObject* object) {
  (void)module;
  DLManagedTensorVersioned* managed;
  return Dovetail_FromPython(object, &managed) != 0 ? NULL : ToCapsule(managed);
}

static PyObject* Empty(PyObject* module, PyObject* arguments) {
  (void)module;
  DLDataType dtype;
  DLDevice device;
  int device_type, device_id, ndim;
  PyObject* sizes;
  if (!PyArg_ParseTuple(arguments, "(bbH)(ii)iO", &dtype.code, &dtype.bits, &dtype.lanes,
                        &device_type, &device_id, &ndim, &sizes)) {
    return NULL;
  }
  device.device_type = (DLDeviceType)device_type;
  device.device_id = device_id;
  int64_t shape[DOVETAIL_MAX_NDIM + 1];
  if (ReadSizes(sizes, shape) < 0) return NULL;
  DLManagedTensorVersioned* managed;
  const int64_t* given = sizes == Py_None ? NULL : shape;
  return Dovetail_Empty(dtype, device, ndim, given, &managed) != 0 ? NULL : ToCapsule(managed);
}

static PyObject* CurrentStream(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject* like;
  int device_type, device_id;
  if (!PyArg_ParseTuple(arguments, "O(ii)", &like, &device_type, &device_id)) return NULL;
  const DLDevice device = {(DLDeviceType)device_type, device_id};
  void* stream = &deleted;
  if (Dovetail_CurrentStream(like == Py_None ? NULL : like, device, &stream) != 0) return NULL;
  return PyLong_FromVoidPtr(stream);
}

// JAX copies memory that is not aligned to 64 bytes.
typedef struct Vector {
  _Alignas(64) float values[3];
  DLManagedTensorVersioned managed;
  int64_t size, stride;
} Vector;

static void DeleteVector(DLManagedTensorVersioned* managed) {
  ++deleted;
  free(managed->manager_ctx);
}

// to_python(like, bits) gives Dovetail a float vector [1, 2, 3] of this module's own.
static PyObject* ToPython(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject* like;
  unsigned char bits;
  if (!PyArg_ParseTuple(arguments, "Ob", &like, &bits)) return NULL;
  Vector* vector = aligned_alloc(64, sizeof(Vector));
  memset(vector, 0, sizeof(Vector));
  vector->size = 3;
  vector->stride = 1;
  for (int i = 0; i < 3; ++i) vector->values[i] = (float)(i + 1);
  vector->managed.version.major = DLPACK_MAJOR_VERSION;
  vector->managed.version.minor = DLPACK_MINOR_VERSION;
  vector->managed.manager_ctx = vector;
  vector->managed.deleter = &DeleteVector;
  vector->managed.dl_tensor.data = vector->values;
  vector->managed.dl_tensor.device.device_type = kDLCPU;
  vector->managed.dl_tensor.ndim = 1;
  vector->managed.dl_tensor.dtype.code = kDLFloat;
  vector->managed.dl_tensor.dtype.bits = bits;
  vector->managed.dl_tensor.dtype.lanes = 1;
  vector->managed.dl_tensor.shape = &vector->size;
  vector->managed.dl_tensor.strides = &vector->stride;
  return Dovetail_ToPython(&vector->managed, like == Py_None ? NULL : like);
}

static PyObject* Deleted(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return PyLong_FromLongLong(deleted);
}

static PyObject* Table(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  const DovetailCApi* api = Dovetail_ImportCApi();
  if (api == NULL) return NULL;
  return Py_BuildValue("(niis)", (Py_ssize_t)api->struct_size, (int)api->major, (int)api->minor,
                       api->version);
}

static PyMethodDef functions[] = {
    {"borrow", (PyCFunction)(void (*)(void))BorrowAll, METH_VARARGS | METH_KEYWORDS, NULL},
    {"bytes_after", BytesAfter, METH_VARARGS, NULL},
    {"from_python", FromPython, METH_O, NULL},
    {"empty", Empty, METH_VARARGS, NULL},
    {"current_stream", CurrentStream, METH_VARARGS, NULL},
    {"to_python", ToPython, METH_VARARGS, NULL},
    {"deleted", Deleted, METH_NOARGS, NULL},
    {"table", Table, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static int Execute(PyObject* module) {
  if (Dovetail_ImportCApi() == NULL) return -1;
  if (PyModule_AddIntConstant(module, "NDIM", DOVETAIL_NDIM) < 0) return -1;
  if (PyModule_AddIntConstant(module, "WRITABLE", DOVETAIL_WRITABLE) < 0) return -1;
  if (PyModule_AddIntConstant(module, "C_CONTIGUOUS", DOVETAIL_C_CONTIGUOUS) < 0) return -1;
  if (PyModule_AddIntConstant(module, "F_CONTIGUOUS", DOVETAIL_F_CONTIGUOUS) < 0) return -1;
  if (PyModule_AddIntConstant(module, "INNER_CONTIGUOUS", DOVETAIL_INNER_CONTIGUOUS) < 0) return -1;
  if (PyModule_AddIntConstant(module, "ALLOW_COPY", DOVETAIL_ALLOW_COPY) < 0) return -1;
  if (PyModule_AddIntConstant(module, "ALLOW_CAST", DOVETAIL_ALLOW_CAST) < 0) return -1;
  if (PyModule_AddIntConstant(module, "TABLE_SIZE", sizeof(DovetailCApi)) < 0) return -1;
  return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void*)Execute},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "capi_user",
                                 .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit_capi_user(void);
PyMODINIT_FUNC PyInit_capi_user(void) { return PyModuleDef_Init(&definition); }
