// Dovetail for extension modules in C: tensors of any library as arguments, and as results.
//
//   static const int64_t kVector[] = {DOVETAIL_SIZE('n')};
//   static const DovetailRequirements kFloats = {
//       .dtype = {kDLFloat, 32, 1}, .shape = kVector, .ndim = 1, .flags = DOVETAIL_C_CONTIGUOUS};
//
//   static PyObject* Sum(PyObject* self, PyObject* object) {
//     DovetailCall call = {.function = "sum"};
//     DovetailBorrowed x;
//     if (Dovetail_Borrow(object, &kFloats, &call, &x) != 0) return NULL;
//     const float* data = (const float*)x.tensor.data;      // x.tensor.shape[0] elements
//     ...
//     Dovetail_Release(&x);
//   }
//
// C11 or C++17; needs Python.h and dlpack/dlpack.h, and nothing to link. The functions are those of
// the installed `dovetail` package, from the capsule dovetail._core._C_API. A program that links
// Dovetail itself (Bazel: @dovetail//python/exchange:linked_capi) uses its own and needs no
// package.
//
// GIL: every function needs it. Errors: a function that returns nonzero or NULL has set a Python
// error, and has taken and kept nothing, unless its comment says otherwise.

#ifndef DOVETAIL_PYTHON_CAPI_H_
#define DOVETAIL_PYTHON_CAPI_H_

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "dlpack/dlpack.h"
#include "dovetail/python/borrowed.h"

// A package serves every extension that was compiled for the same major version and for the same or
// an earlier minor version.
#define DOVETAIL_CAPI_MAJOR 1
#define DOVETAIL_CAPI_MINOR 0
// Where the package keeps the interface: an attribute of dovetail._core, and its capsule's name.
#define DOVETAIL_CAPI_ATTRIBUTE "_C_API"
#define DOVETAIL_CAPI_CAPSULE "dovetail._core._C_API"

typedef struct DovetailCApi {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  const char* version;  // of the package: "0.1.0"
  int (*borrow)(PyObject* object, const DovetailRequirements* wanted, DovetailCall* call,
                DovetailBorrowed* borrowed);
  int (*from_python)(PyObject* object, DLManagedTensorVersioned** managed);
  PyObject* (*to_python)(DLManagedTensorVersioned* managed, PyObject* like);
  int (*empty)(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
               DLManagedTensorVersioned** managed);
  int (*current_stream)(PyObject* like, DLDevice device, void** stream);
  int (*can_hold)(PyObject* like, DLDataType dtype);
  int (*make)(const DovetailRequirements* wanted, DovetailCall* call, PyObject* like,
              DovetailBorrowed* borrowed);
  void (*parallel_for)(int64_t count, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end), void* context);
} DovetailCApi;

#ifdef DOVETAIL_CAPI_LINKED

#ifdef __cplusplus
extern "C"
#endif
    const DovetailCApi* DovetailLinkedCApi(void);

// The functions, or NULL with ImportError set. A module may call it when it is imported, so that a
// package that is missing or too old is found then.
static inline const DovetailCApi* Dovetail_ImportCApi(void) { return DovetailLinkedCApi(); }

#else

static inline const DovetailCApi* Dovetail_ImportCApi(void) {
  static const DovetailCApi* imported = NULL;
#ifdef Py_GIL_DISABLED  // threads may find it at the same time, and find the same
  const DovetailCApi* const known = __atomic_load_n(&imported, __ATOMIC_ACQUIRE);
#else
  const DovetailCApi* const known = imported;
#endif
  if (known != NULL) return known;
  PyObject* module = PyImport_ImportModule("dovetail._core");
  if (module == NULL) return NULL;
  PyObject* capsule = PyObject_GetAttrString(module, DOVETAIL_CAPI_ATTRIBUTE);
  Py_DECREF(module);
  const DovetailCApi* api = NULL;
  if (capsule != NULL) {
    api = (const DovetailCApi*)PyCapsule_GetPointer(capsule, DOVETAIL_CAPI_CAPSULE);
    Py_DECREF(capsule);
  }
  if (api == NULL) {
    PyErr_SetString(PyExc_ImportError,
                    "the installed dovetail package has no C API: install a newer dovetail-dlpack");
  } else if (api->major != DOVETAIL_CAPI_MAJOR || api->minor < DOVETAIL_CAPI_MINOR ||
             api->struct_size < sizeof(DovetailCApi)) {
    PyErr_Format(PyExc_ImportError,
                 "this extension needs dovetail's C API %d.%d or a later %d.x, and dovetail %s has "
                 "%d.%d: %s",
                 DOVETAIL_CAPI_MAJOR, DOVETAIL_CAPI_MINOR, DOVETAIL_CAPI_MAJOR, api->version,
                 (int)api->major, (int)api->minor,
                 api->major > DOVETAIL_CAPI_MAJOR ? "compile the extension again"
                                                  : "install a newer dovetail-dlpack");
    api = NULL;
  }
#ifdef Py_GIL_DISABLED
  __atomic_store_n(&imported, api, __ATOMIC_RELEASE);
#else
  imported = api;
#endif
  return api;
}

#endif  // DOVETAIL_CAPI_LINKED

// Borrows the memory of `object` for a call, if it meets the requirements. If these ask for memory
// that the CPU can read, the host waits for pending work on pinned and managed memory. Otherwise
// the host waits for no GPU: work there goes to borrowed->stream. 0, and the caller calls
// Dovetail_Release(). -1 with an error set: TypeError for what is no tensor or has another dtype,
// rank or device; ValueError for sizes, strides and alignment; BufferError for memory that can't be
// shared, such as that of a tensor that requires gradients, and for read-only memory that the
// function would write. 1 without an error for a quiet call, unless the error is no mismatch
// (Dovetail_IsMismatch()). `call` may be NULL.
static inline int Dovetail_Borrow(PyObject* object, const DovetailRequirements* wanted,
                                  DovetailCall* call, DovetailBorrowed* borrowed) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->borrow(object, wanted, call, borrowed);
}

// Ends the loan. A Python error that is set stays set: what the memory's owner does does not see
// it.
static inline void Dovetail_Release(DovetailBorrowed* borrowed) {
  DLManagedTensorVersioned* const held = borrowed->held;
  borrowed->held = NULL;
  if (held == NULL) return;
  if (PyErr_Occurred() == NULL) {
    held->deleter(held);
    return;
  }
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  held->deleter(held);
  PyErr_Restore(type, value, traceback);
}

// Whether the error that is set, which stays set, is about what the object is: no tensor, or one
// that its library does not share. Other overloads may take such an object. 0 for what the object's
// own code raised, lack of memory and interrupts, which are the caller's to see.
static inline int Dovetail_IsMismatch(void) {
  const int is_refusal = PyErr_ExceptionMatches(PyExc_BufferError);
  // Half of a protocol, as in JAX's tracers.
  if (!is_refusal && PyErr_ExceptionMatches(PyExc_AttributeError)) return 1;
  if (!is_refusal && !PyErr_ExceptionMatches(PyExc_TypeError)) return 0;
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  int is_mismatch = traceback == NULL;  // a TypeError that no Python code raised
  if (is_refusal) {
    PyObject* const cause = PyException_GetCause(value);
    is_mismatch = cause == NULL || PyErr_GivenExceptionMatches(cause, PyExc_BufferError);
    Py_XDECREF(cause);
  }
  PyErr_Restore(type, value, traceback);
  return is_mismatch;
}

// Shares the memory of `object` beyond a call. The caller owns `*managed` and calls its deleter, on
// any thread. Errors as for Dovetail_Borrow().
static inline int Dovetail_FromPython(PyObject* object, DLManagedTensorVersioned** managed) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->from_python(object, managed);
}

// A new Python object over the memory, of the class of `like`: numpy.ndarray, torch.Tensor,
// cupy.ndarray, jax.Array, … For another class or NULL, a dovetail.Tensor, or a NumPy array where
// dovetail is not installed. Work that fills the memory is on the current stream of that library.
// Takes ownership of `managed`, in failure too.
static inline PyObject* Dovetail_ToPython(DLManagedTensorVersioned* managed, PyObject* like) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  if (api == NULL) {
    if (managed->deleter != NULL) managed->deleter(managed);
    return NULL;
  }
  return api->to_python(managed, like);
}

// A new tensor, row-major and not initialised. ValueError for an invalid shape or dtype,
// MemoryError, or RuntimeError for a device without a backend.
static inline int Dovetail_Empty(DLDataType dtype, DLDevice device, int32_t ndim,
                                 const int64_t* shape, DLManagedTensorVersioned** managed) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->empty(dtype, device, ndim, shape, managed);
}

// The stream on which the library of `like` works now, such as a CUstream; Dovetail's own, before
// which borrowed memory is ordered, for a library that does not say its stream (JAX). NULL for host
// memory, and for the default stream.
static inline int Dovetail_CurrentStream(PyObject* like, DLDevice device, void** stream) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->current_stream(like, device, stream);
}

// Whether the library of `like` has a type: 1 or 0, -1 with an error set. JAX has no int64 unless
// jax_enable_x64 is on. 1 for objects of no known library.
static inline int Dovetail_CanHold(PyObject* like, DLDataType dtype) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->can_hold(like, dtype);
}

// A new tensor that meets the requirements, row-major and not initialised, for a result: its sizes
// and its type are those that the call's arguments have by name, and otherwise the first type that
// the library of `like` has; it is on the device of `like`. borrowed->object is NULL. ValueError
// for a size that no argument has. The caller calls Dovetail_Result(), or Dovetail_Release().
static inline int Dovetail_Make(const DovetailRequirements* wanted, DovetailCall* call,
                                PyObject* like, DovetailBorrowed* borrowed) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  return api == NULL ? -1 : api->make(wanted, call, like, borrowed);
}

// What a function returns for a tensor that it wrote: the argument itself, or for one that
// Dovetail_Make() made or DOVETAIL_COPY_IMMUTABLE copied, a new object of the class of `like`.
static inline PyObject* Dovetail_Result(DovetailBorrowed* borrowed, PyObject* like) {
  if ((borrowed->flags & DLPACK_FLAG_BITMASK_IS_COPIED) == 0) {
    Py_INCREF(borrowed->object);
    return borrowed->object;
  }
  DLManagedTensorVersioned* const held = borrowed->held;
  borrowed->held = NULL;
  return Dovetail_ToPython(held, borrowed->object != NULL ? borrowed->object : like);
}

// Calls body(context, begin, end) for parts of 0 … count, of about `grain` iterations or more, on
// the threads of the package, and on this one alone for want of a package. Without the GIL while
// several threads work. It may be called without the GIL once a tensor was borrowed.
static inline void Dovetail_ParallelFor(int64_t count, int64_t grain,
                                        void (*body)(void* context, int64_t begin, int64_t end),
                                        void* context) {
  const DovetailCApi* const api = Dovetail_ImportCApi();
  if (api != NULL) {
    api->parallel_for(count, grain, body, context);
    return;
  }
  PyErr_Clear();
  if (count > 0) body(context, 0, count);
}

#endif  // DOVETAIL_PYTHON_CAPI_H_
