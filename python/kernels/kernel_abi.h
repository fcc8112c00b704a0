// What a kernel library exports, and what the package gives to it: C structs.
//
// A kernel library is a shared object that links neither Python nor a framework. It exports one
// function, DovetailKernelLibraryOf(), which describes its kernels. The package checks the versions
// when it loads the library, and calls the kernels through these structs.
//
// A package runs the libraries of its major version of this interface, and of the same or an
// earlier minor version. A struct only grows at its end; `struct_size` says how far it goes.
// Authors don't write these structs: DOVETAIL_KERNEL (kernel.h) makes them. C11 or C++17.

#ifndef DOVETAIL_PYTHON_KERNELS_KERNEL_ABI_H_
#define DOVETAIL_PYTHON_KERNELS_KERNEL_ABI_H_

#include <stddef.h>
#include <stdint.h>

#include "dlpack/dlpack.h"
#include "dovetail/python/borrowed.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DOVETAIL_KERNELS_MAJOR 1
#define DOVETAIL_KERNELS_MINOR 0
#define DOVETAIL_KERNELS_SYMBOL "DovetailKernelLibraryOf"

// Values of DovetailParameter.kind.
enum {
  DOVETAIL_KIND_TENSOR = 1,
  DOVETAIL_KIND_FLOAT = 2,   // a double
  DOVETAIL_KIND_INT = 3,     // an int64_t
  DOVETAIL_KIND_BOOL = 4,    // an int64_t of 0 or 1
  DOVETAIL_KIND_STRING = 5,  // UTF-8
  DOVETAIL_KIND_STREAM = 6,  // the caller's current stream; no argument of Python's function
};

// Bits of DovetailParameter.flags.
enum {
  DOVETAIL_PARAMETER_OPTIONAL = 1,       // may be None
  DOVETAIL_PARAMETER_LIST = 2,           // several tensors, doubles or int64_t
  DOVETAIL_PARAMETER_OUT = 4,            // written; made for the call where the caller gives None
  DOVETAIL_PARAMETER_INOUT = 8,          // read and written
  DOVETAIL_PARAMETER_NO_OVERLAP = 16,    // no memory in common with another tensor
  DOVETAIL_PARAMETER_KEYWORD_ONLY = 32,  // given by its name
};

typedef struct DovetailParameter {
  size_t struct_size;
  const char* name;
  int32_t kind;
  uint32_t flags;
  const char* default_text;            // as in Python: "1e-6", "None", "'sum'"; NULL: required
  const char* type_text;               // of a tensor, as in Python: "typing.Annotated[…]"
  const DovetailRequirements* wanted;  // of a tensor; NULL otherwise
  int64_t least, most;                 // of an int
  int64_t size_name;                   // of an int that is a named size of tensors; 0: none
  const char* size_text;               // the name's letters
} DovetailParameter;

// An argument of a call. What `value` points to is valid for the call.
typedef struct DovetailArgument {
  int32_t is_there;  // 0: None
  union {
    double number;
    int64_t integer;
    const char* text;  // ends with NUL, after `count` bytes
    const DovetailBorrowed* tensor;
    const DovetailBorrowed* const* tensors;
    const double* numbers;
    const int64_t* integers;
    void* stream;
  } value;
  int64_t count;  // of a list or a text
} DovetailArgument;

// Values of DovetailFailure's kind: the Python exception that the caller gets.
enum {
  DOVETAIL_RUNTIME_ERROR = 1,
  DOVETAIL_VALUE_ERROR = 2,
  DOVETAIL_INDEX_ERROR = 3,
  DOVETAIL_OVERFLOW_ERROR = 4,
  DOVETAIL_MEMORY_ERROR = 5,
  DOVETAIL_TYPE_ERROR = 6,
};

// Where a call says why it failed. `message` is copied.
typedef struct DovetailFailure {
  void (*set)(struct DovetailFailure* self, int32_t kind, const char* message);
} DovetailFailure;

typedef struct DovetailKernel {
  size_t struct_size;
  const struct DovetailKernel* next;  // of the library; NULL at the end
  const char* name;
  const char* doc;  // may be NULL
  const DovetailParameter* const* parameters;
  int32_t num_parameters;
  int32_t num_results;      // tensors that it returns, beside what it writes
  int32_t returns_a_tuple;  // of these
  // One argument for each parameter, all of which were checked. `results` has num_results entries,
  // which the caller owns. 0; or -1 after failure->set(), with no results. Any thread; throws
  // nothing.
  int (*invoke)(const DovetailArgument* arguments, DLManagedTensorVersioned** results,
                DovetailFailure* failure);
  // The kernel as PyTorch's stable C interface calls it: host->torch_kernel(this kernel, …), which
  // throws.
  void (*torch_kernel)(uint64_t* stack, uint64_t num_arguments, uint64_t num_results);
  // The kernel as XLA's FFI calls it, an XLA_FFI_Handler for each platform: host->xla_kernel(this
  // kernel, …), with the DLDeviceType of the platform.
  void* (*xla_cpu_kernel)(void* call_frame);
  void* (*xla_cuda_kernel)(void* call_frame);
  void* (*xla_rocm_kernel)(void* call_frame);
  // Where the package keeps what it knows of the kernel. NULL at first.
  const void** package_data;
} DovetailKernel;

// The package's functions.
typedef struct DovetailKernelHost {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  // Dovetail_ParallelFor() of capi.h. With or without the GIL.
  void (*parallel_for)(int64_t count, int64_t grain,
                       void (*body)(void* context, int64_t begin, int64_t end), void* context);
  // A new tensor, row-major and not initialised. 0, or -1 after failure->set().
  int (*empty)(DLDataType dtype, DLDevice device, int32_t ndim, const int64_t* shape,
               DLManagedTensorVersioned** managed, DovetailFailure* failure);
  void (*torch_kernel)(const DovetailKernel* kernel, uint64_t* stack, uint64_t num_arguments,
                       uint64_t num_results);
  void* (*xla_kernel)(const DovetailKernel* kernel, void* call_frame, int32_t device_type);
} DovetailKernelHost;

typedef struct DovetailKernelLibrary {
  size_t struct_size;
  int32_t major;
  int32_t minor;
  const DovetailKernel* kernels;  // NULL: none
  // Called before the first kernel is. `host` is valid from then on.
  void (*set_host)(const DovetailKernelHost* host);
} DovetailKernelLibrary;

typedef const DovetailKernelLibrary* (*DovetailKernelLibraryFunction)(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // DOVETAIL_PYTHON_KERNELS_KERNEL_ABI_H_
