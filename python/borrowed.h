// What a function takes of a tensor argument, and what it gets: a borrowed tensor. As C structs,
// which bindings (capi.h) and kernel libraries (kernels/kernel_abi.h) share. C11 or C++17; needs
// dlpack/dlpack.h, and no Python.h.

#ifndef DOVETAIL_PYTHON_BORROWED_H_
#define DOVETAIL_PYTHON_BORROWED_H_

#include <stddef.h>
#include <stdint.h>

#include "dlpack/dlpack.h"

#if !defined(DLPACK_MAJOR_VERSION) || DLPACK_MAJOR_VERSION < 1
#error "Another library's dlpack.h is older than 1.0: put dovetail.get_include() before it."
#endif

typedef struct _object PyObject;  // as Python.h has it

#define DOVETAIL_MAX_NDIM 64

// Bits of DovetailRequirements.flags.
enum {
  DOVETAIL_NDIM = 1,               // ndim is checked; always so with a shape
  DOVETAIL_WRITABLE = 2,           // no read-only memory, no stride of 0 over several elements
  DOVETAIL_C_CONTIGUOUS = 4,       // row-major, without gaps
  DOVETAIL_F_CONTIGUOUS = 8,       // column-major, without gaps
  DOVETAIL_INNER_CONTIGUOUS = 16,  // the last dimension has stride 1 (or at most one element)
  DOVETAIL_ALLOW_COPY = 32,        // a copy if strides, alignment or device do not fit; read only
  DOVETAIL_ALLOW_CAST = 64,        // a converted copy if the dtype does not fit; read only
  DOVETAIL_ALLOW_REPEATS = 128,    // strides of 0, though the elements are written
  DOVETAIL_LEADING = 256,          // `ndim` and `shape` are of the last dimensions; any before them
  DOVETAIL_COPY_IMMUTABLE = 512,   // a copy that may be written, of an array that never changes
                                   // (JAX's); the function returns it
  DOVETAIL_ONE_OF = 1024,          // of `types`
};

// Values of DovetailRequirements.device_type besides those of DLDeviceType.
enum {
  DOVETAIL_HOST_MEMORY = 0,  // whatever the CPU can read and write
  DOVETAIL_ANY_DEVICE = -1,
};

// Entries of a required shape besides sizes.
#define DOVETAIL_ANY_SIZE ((int64_t)-1)
// A size with a name of one letter. Sizes of one name agree among the arguments of one call. The
// number of a name has bits 0 to 55 of -1 - value: up to seven letters, the first in the lowest
// byte, or with bit 55 set a hash of a longer name. Bits 56 to 62 are F - 1 of a size that is F
// times the named one.
#define DOVETAIL_SIZE(letter) ((int64_t)(-1 - (int64_t)(letter)))

// What a function takes. All zero: any tensor in host memory.
typedef struct DovetailRequirements {
  DLDataType dtype;        // bits 0: any
  int32_t device_type;     // a DLDeviceType, DOVETAIL_HOST_MEMORY or DOVETAIL_ANY_DEVICE
  const int64_t* shape;    // ndim entries; NULL: any
  const int64_t* strides;  // ndim entries, in elements or DOVETAIL_ANY_STRIDE; NULL: any
  int32_t ndim;
  uint32_t alignment;  // of element 0, in bytes; 0: any. For DOVETAIL_ONE_OF the alignment of the
                       // tensor's own type is wanted as well
  uint32_t flags;
  int32_t num_types;
  const DLDataType* types;  // num_types entries, for DOVETAIL_ONE_OF; `dtype` is then not looked at
  int64_t type_name;        // of the type, which agrees among the arguments of a call; 0: none
  int64_t leading_name;     // the same for the dimensions of DOVETAIL_LEADING
  const char* const* long_names;  // of sizes, `ndim` entries: what `shape` has a hash of. May be
                                  // NULL, and has NULL or "" for other entries
} DovetailRequirements;
#define DOVETAIL_ANY_STRIDE INT64_MIN

// One call of a function: what errors say of it, and the named sizes and types that its arguments
// have so far. Starts as {.function = "name"} or all zero. Borrowed tensors with leading dimensions
// stay where they are until the last one of the call is borrowed.
#define DOVETAIL_MAX_NAMED_SIZES 8
#define DOVETAIL_MAX_NAMED_TYPES 4
#define DOVETAIL_MAX_NAMED_LEADS 2
typedef struct DovetailCall {
  const char* function;      // NULL: unknown
  const char* argument;      // the name of the argument that is borrowed next; NULL: unknown
  const char* const* names;  // of all arguments, the first at 0; NULL: unknown
  int32_t position;          // of the argument that was borrowed last; the first is 1
  int32_t is_quiet;          // a tensor that does not fit is refused (1) without a Python error
  int32_t element;  // of a list of tensors, the place of the one that is borrowed next, from 1;
                    // 0: no list. `position` then stays
  int32_t num_sizes;
  int32_t num_types;
  int32_t num_leads;
  struct {
    int64_t name;  // as in a required shape
    int64_t size;
    int32_t position;
  } sizes[DOVETAIL_MAX_NAMED_SIZES];
  struct {
    int64_t name;
    DLDataType dtype;
    int32_t position;
  } types[DOVETAIL_MAX_NAMED_TYPES];
  struct {
    int64_t name;
    const int64_t* shape;  // of the borrowed tensor, `ndim` entries
    int32_t ndim;
    int32_t position;
  } leads[DOVETAIL_MAX_NAMED_LEADS];
} DovetailCall;

// A tensor for the duration of a call. The caller of the function holds the object. The memory
// stays valid until Dovetail_Release(), as long as nothing resizes the object or replaces its
// memory meanwhile.
typedef struct DovetailBorrowed {
  DLTensor tensor;   // shape and strides (elements, never NULL) are the arrays below; data is
                     // element 0, except on devices without addresses, which use byte_offset
  uint64_t flags;    // DLPACK_FLAG_BITMASK_READ_ONLY, _IS_COPIED, _IS_SUBBYTE_TYPE_PADDED
  PyObject* object;  // the argument, not counted; NULL if there is none
  void* stream;      // Dovetail_CurrentStream() of the argument
  DLManagedTensorVersioned* held;  // dropped by Dovetail_Release(); NULL if nothing is held
  int64_t shape[DOVETAIL_MAX_NDIM];
  int64_t strides[DOVETAIL_MAX_NDIM];
} DovetailBorrowed;

#endif  // DOVETAIL_PYTHON_BORROWED_H_
