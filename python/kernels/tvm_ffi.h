// What tvm-ffi publishes of its C interface, as far as it calls kernels. No kernel library links
// tvm-ffi: its functions are found in the process, once.
//
// Source: tvm/ffi/c_api.h and tvm/ffi/extra/c_env_api.h of tvm-ffi 0.1.15. A test compares the two.

#ifndef DOVETAIL_PYTHON_KERNELS_TVM_FFI_H_
#define DOVETAIL_PYTHON_KERNELS_TVM_FFI_H_

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dlpack/dlpack.h"
#include "dovetail/python/args/arg_abi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// Values of TvmAny.type and of an object's.
enum TvmType : int32_t {
  kTvmNone = 0,
  kTvmInt = 1,
  kTvmBool = 2,
  kTvmFloat = 3,
  kTvmDLTensor = 7,   // a DLTensor*
  kTvmRawString = 8,  // a const char*
  kTvmSmallString = 11,
  kTvmString = 65,  // the object, then a TvmBytes
  kTvmShape = 69,   // the object, then a TvmShape
  kTvmTensor = 70,  // the object, then a DLTensor
  kTvmArray = 71,   // the object, then a TvmSequence of TvmAny
  kTvmList = 75,    // the same
  kTvmBigInt = 78,
};

struct TvmObject {
  uint64_t counts;
  int32_t type;
  uint32_t padding;
  void (*deleter)(void* self, int flags);
};

struct TvmAny {
  int32_t type;
  uint32_t small_size;  // bytes of a kTvmSmallString
  union {
    int64_t integer;
    double number;
    void* pointer;
    TvmObject* object;
    char letters[8];
  };
};

struct TvmBytes {
  const char* data;
  size_t size;
};
struct TvmShape {
  const int64_t* data;
  size_t size;
};
struct TvmSequence {
  TvmAny* data;
  int64_t size;
  int64_t capacity;
  void (*deleter)(void*);
};

// What follows an object's header.
template <typename T>
const T& Behind(const TvmAny& any) {
  return *reinterpret_cast<const T*>(any.object + 1);
}

struct TvmFunctions {
  void (*set_error)(const char* kind, const char* message) = nullptr;
  void* (*get_stream)(int32_t device_type, int32_t device_id) = nullptr;
  int (*tensor_from_dlpack)(DLManagedTensorVersioned* from, int32_t alignment,
                            int32_t is_contiguous, void** object) = nullptr;
  int (*get_function)(const TvmBytes* name, void** function) = nullptr;
  int (*call)(void* function, TvmAny* arguments, int32_t count, TvmAny* result) = nullptr;
  int (*release)(void* object) = nullptr;
};

// Who calls by tvm-ffi has it in the process: as a shared object or linked in. Functions that it
// lacks are nullptr.
inline const TvmFunctions& FindTvmFunctions() {
  static const TvmFunctions found = []() __attribute__((cold)) {
    void* library = dlopen("libtvm_ffi.so", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) library = RTLD_DEFAULT;
    TvmFunctions all;
    const auto find = [library](const char* name, auto* function) {
      *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    };
    find("TVMFFIErrorSetRaisedFromCStr", &all.set_error);
    find("TVMFFIEnvGetStream", &all.get_stream);
    find("TVMFFITensorFromDLPackVersioned", &all.tensor_from_dlpack);
    find("TVMFFIFunctionGetGlobal", &all.get_function);
    find("TVMFFIFunctionCall", &all.call);
    find("TVMFFIObjectDecRef", &all.release);
    return all;
  }();
  return found;
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_TVM_FFI_H_
