// An extension module in C that makes and returns tensors, and works on several threads.

#include <pthread.h>
#include <string.h>

#include "dovetail/python/capi.h"

enum { kMaxArguments = 4 };

// What a function requires of each argument, and what it makes.
typedef struct Function {
  const char* name;
  DovetailRequirements input;
  DovetailRequirements result;
} Function;

#define FLOAT32 {kDLFloat, 32, 1}
#define FLOAT64 {kDLFloat, 64, 1}
#define INT32 {kDLInt, 32, 1}
#define INT64 {kDLInt, 64, 1}
#define TIMES(factor, letter) (DOVETAIL_SIZE(letter) - ((int64_t)((factor)-1) << 56))

static const int64_t kN[] = {DOVETAIL_SIZE('n')};
static const int64_t kTwiceN[] = {2, TIMES(2, 'n')};
static const int64_t kM[] = {DOVETAIL_SIZE('m')};
static const int64_t kAny[] = {DOVETAIL_ANY_SIZE};
static const int64_t kLarge[] = {(int64_t)1 << 50};
static const int64_t kOverflowing[] = {(int64_t)1 << 40, (int64_t)1 << 40};
static const DLDataType kReals[] = {FLOAT32, FLOAT64};
static const DLDataType kIndices[] = {INT64, INT32};

#define VECTOR {.dtype = FLOAT32, .shape = kN, .ndim = 1}
#define REALS \
  {.shape = kN, .ndim = 1, .flags = DOVETAIL_ONE_OF, .num_types = 2, .types = kReals, .type_name = 1}
#define LEADING_TO_N                                                          \
  {.dtype = FLOAT32, .shape = kN, .ndim = 1, .flags = DOVETAIL_LEADING,       \
   .leading_name = DOVETAIL_SIZE('d')}

static const Function kFunctions[] = {
    {"same_size", VECTOR, VECTOR},
    {"two_rows_twice_as_long", VECTOR, {.dtype = FLOAT64, .shape = kTwiceN, .ndim = 2}},
    {"scalar", VECTOR, {.dtype = FLOAT32, .flags = DOVETAIL_NDIM}},
    {"same_shape", LEADING_TO_N, LEADING_TO_N},
    {"same_type", REALS, REALS},
    {"indices", VECTOR,
     {.shape = kN, .ndim = 1, .flags = DOVETAIL_ONE_OF, .num_types = 2, .types = kIndices}},
    {"on_any_device", VECTOR,
     {.dtype = FLOAT32, .device_type = DOVETAIL_ANY_DEVICE, .shape = kN, .ndim = 1}},
    {"unknown_size", VECTOR, {.dtype = FLOAT32, .shape = kM, .ndim = 1}},
    {"any_size", VECTOR, {.dtype = FLOAT32, .shape = kAny, .ndim = 1}},
    {"any_shape", VECTOR, {.dtype = FLOAT32}},
    {"any_type", VECTOR, {.shape = kN, .ndim = 1}},
    {"unknown_leading", VECTOR, LEADING_TO_N},
    {"too_large", VECTOR, {.dtype = FLOAT32, .shape = kLarge, .ndim = 1}},
    {"overflowing", VECTOR, {.dtype = FLOAT32, .shape = kOverflowing, .ndim = 2}},
    {NULL, {.ndim = 0}, {.ndim = 0}},
};

static PyObject* OrNull(PyObject* object) { return object == Py_None ? NULL : object; }

static PyObject* CanHold(PyObject* module, PyObject* arguments) {
  (void)module;
  PyObject* like;
  DLDataType dtype;
  if (!PyArg_ParseTuple(arguments, "O(bbH)", &like, &dtype.code, &dtype.bits, &dtype.lanes)) {
    return NULL;
  }
  const int can_hold = Dovetail_CanHold(OrNull(like), dtype);
  return can_hold < 0 ? NULL : PyLong_FromLong(can_hold);
}

static int64_t BytesOf(const DLTensor* tensor) {
  int64_t bytes = tensor->dtype.bits / 8;
  for (int32_t i = 0; i < tensor->ndim; ++i) bytes *= tensor->shape[i];
  return bytes;
}

// What a made tensor says of itself.
static PyObject* Describe(const DovetailBorrowed* made) {
  const DLTensor* tensor = &made->tensor;
  PyObject* shape = PyTuple_New(tensor->ndim);
  PyObject* strides = PyTuple_New(tensor->ndim);
  for (int32_t i = 0; shape != NULL && strides != NULL && i < tensor->ndim; ++i) {
    PyTuple_SET_ITEM(shape, i, PyLong_FromLongLong(tensor->shape[i]));
    PyTuple_SET_ITEM(strides, i, PyLong_FromLongLong(tensor->strides[i]));
  }
  return Py_BuildValue("{s:N, s:N, s:(iii), s:(ii), s:i, s:i, s:i}", "shape", shape, "strides",
                       strides, "dtype", (int)tensor->dtype.code, (int)tensor->dtype.bits,
                       (int)tensor->dtype.lanes, "device", (int)tensor->device.device_type,
                       (int)tensor->device.device_id, "has_object", made->object != NULL,
                       "has_stream", made->stream != NULL, "is_copied",
                       (made->flags & DLPACK_FLAG_BITMASK_IS_COPIED) != 0);
}

// make(name, inputs, like, is_quiet=False, is_dropped=False) calls a function. It returns the
// result, all zero, and what it was; None for one that is dropped.
static PyObject* Make(PyObject* module, PyObject* arguments) {
  (void)module;
  const char* name;
  PyObject *inputs, *like;
  DovetailCall call = {.function = NULL};
  int is_dropped = 0;
  if (!PyArg_ParseTuple(arguments, "sO!O|ip", &name, &PyTuple_Type, &inputs, &like, &call.is_quiet,
                        &is_dropped)) {
    return NULL;
  }
  like = OrNull(like);
  const Function* function = kFunctions;
  while (function->name != NULL && strcmp(function->name, name) != 0) ++function;
  if (function->name == NULL || PyTuple_GET_SIZE(inputs) > kMaxArguments) {
    PyErr_SetString(PyExc_KeyError, name);
    return NULL;
  }

  DovetailBorrowed borrowed[kMaxArguments], made;
  Py_ssize_t count = 0;
  int result = 0;
  while (count < PyTuple_GET_SIZE(inputs)) {
    PyObject* input = PyTuple_GET_ITEM(inputs, count);
    result = Dovetail_Borrow(input, &function->input, &call, &borrowed[count]);
    if (result != 0) break;
    ++count;
  }
  if (result == 0) result = Dovetail_Make(&function->result, &call, like, &made);
  for (Py_ssize_t i = 0; i < count; ++i) Dovetail_Release(&borrowed[i]);
  if (result == 1) return PyErr_Occurred() != NULL ? NULL : PyLong_FromLong(1);
  if (result != 0) return NULL;

  memset(made.tensor.data, 0, (size_t)BytesOf(&made.tensor));
  PyObject* description = Describe(&made);
  PyObject* object = is_dropped ? Py_NewRef(Py_None) : Dovetail_Result(&made, like);
  Dovetail_Release(&made);  // after Dovetail_Result() there is nothing to release
  if (object == NULL || description == NULL) {
    Py_XDECREF(object);
    Py_XDECREF(description);
    return NULL;
  }
  return Py_BuildValue("(NN)", object, description);
}

// increment(x) adds 1 to each element, and returns x, or a new array if x never changes.
static PyObject* Increment(PyObject* module, PyObject* object) {
  (void)module;
  const DovetailRequirements wanted = {
      .dtype = FLOAT32,
      .shape = kN,
      .ndim = 1,
      .flags = DOVETAIL_WRITABLE | DOVETAIL_C_CONTIGUOUS | DOVETAIL_COPY_IMMUTABLE};
  DovetailCall call = {.function = "increment"};
  DovetailBorrowed x;
  if (Dovetail_Borrow(object, &wanted, &call, &x) != 0) return NULL;
  float* data = x.tensor.data;
  for (int64_t i = 0; i < x.tensor.shape[0]; ++i) data[i] += 1;
  PyObject* result = Dovetail_Result(&x, NULL);
  Dovetail_Release(&x);
  return result;
}

typedef struct Loop {
  int64_t count, grain;
  unsigned char* visits;      // one for each index
  int parts;                  // calls of the body
  int parts_with_gil;
} Loop;

static void Visit(void* context, int64_t begin, int64_t end) {
  Loop* loop = context;
  __atomic_fetch_add(&loop->parts, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&loop->parts_with_gil, PyGILState_Check(), __ATOMIC_RELAXED);
  for (int64_t i = begin; i < end; ++i) __atomic_fetch_add(&loop->visits[i], 1, __ATOMIC_RELAXED);
}

static void* Run(void* context) {
  Loop* loop = context;
  Dovetail_ParallelFor(loop->count, loop->grain, &Visit, loop);
  return NULL;
}

// visit(visits, count, grain, caller) counts the visits of each index in a bytearray. The caller of
// Dovetail_ParallelFor() is this thread with the GIL (0) or without it (1), or a thread that Python
// does not know (2). Returns how many parts there were, and how many of these ran with the GIL.
static PyObject* VisitAll(PyObject* module, PyObject* arguments) {
  (void)module;
  Py_buffer visits;
  long long count, grain;
  int caller;
  if (!PyArg_ParseTuple(arguments, "w*LLi", &visits, &count, &grain, &caller)) return NULL;
  Loop loop = {.count = count, .grain = grain, .visits = visits.buf};
  int failed = 0;
  if (caller == 0) {
    Run(&loop);
  } else {
    Py_BEGIN_ALLOW_THREADS;
    pthread_t thread;
    if (caller == 1) {
      Run(&loop);
    } else {
      failed = pthread_create(&thread, NULL, &Run, &loop);
      if (!failed) pthread_join(thread, NULL);
    }
    Py_END_ALLOW_THREADS;
  }
  PyBuffer_Release(&visits);
  if (failed) return PyErr_NoMemory();
  return Py_BuildValue("(ii)", loop.parts, loop.parts_with_gil);
}

static PyMethodDef functions[] = {
    {"can_hold", CanHold, METH_VARARGS, NULL},
    {"make", Make, METH_VARARGS, NULL},
    {"increment", Increment, METH_O, NULL},
    {"visit", VisitAll, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

// (The functions find the package when they are called.)
static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "capi_results",
                                 .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit_capi_results(void);
PyMODINIT_FUNC PyInit_capi_results(void) { return PyModuleDef_Init(&definition); }
