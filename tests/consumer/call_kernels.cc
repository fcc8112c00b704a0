// A program without Python that loads a kernel library and calls its kernels by the C interface:
// call_kernels kernels.so. It exits with 1 if a check fails.

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "dlpack/dlpack.h"
#include "dovetail/python/borrowed.h"
#include "dovetail/python/kernels/kernel_abi.h"

namespace {

void Check(bool condition, const std::string& what) {
  if (condition) return;
  std::cerr << "consumer: failed: " << what << "\n";
  std::exit(1);
}

// What a kernel gets for a tensor of float32 with one dimension.
struct Vector {
  Vector(float* data, int64_t size, int64_t stride) {
    borrowed.shape[0] = size;
    borrowed.strides[0] = stride;
    borrowed.tensor.data = data;
    borrowed.tensor.device = {kDLCPU, 0};
    borrowed.tensor.ndim = 1;
    borrowed.tensor.dtype = {kDLFloat, 32, 1};
    borrowed.tensor.shape = borrowed.shape;
    borrowed.tensor.strides = borrowed.strides;
    argument.is_there = 1;
    argument.value.tensor = &borrowed;
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;

  DovetailBorrowed borrowed = {};
  DovetailArgument argument = {};
};

// Where a kernel says why it failed.
struct Failure : DovetailFailure {
  Failure() : DovetailFailure{&Set} {}
  static void Set(DovetailFailure* self, int32_t kind, const char* message) {
    static_cast<Failure*>(self)->kind = kind;
    static_cast<Failure*>(self)->message = message;
  }

  int32_t kind = 0;
  std::string message;
};

const DovetailKernel* Find(const DovetailKernelLibrary& library, const std::string& name) {
  const DovetailKernel* kernel = library.kernels;
  while (kernel != nullptr && kernel->name != name) kernel = kernel->next;
  Check(kernel != nullptr, "there is a kernel " + name);
  return kernel;
}

void ScaleAdd(const DovetailKernelLibrary& library) {
  const DovetailKernel& kernel = *Find(library, "scale_add");
  Check(kernel.num_parameters == 4, "four parameters");
  Check(kernel.parameters[3]->name == std::string("out"), "the last one is out");
  Check((kernel.parameters[3]->flags & DOVETAIL_PARAMETER_OUT) != 0, "which is an Out");

  float x[] = {1, -1, 2, -1, 3}, y[] = {10, 20, 30}, out[] = {0, 0, 0};
  Vector every_other(x, 3, 2), all(y, 3, 1), written(out, 3, 1);
  DovetailArgument factor = {};
  factor.is_there = 1;
  factor.value.number = 2;
  const DovetailArgument arguments[] = {every_other.argument, all.argument, factor,
                                        written.argument};
  Failure failure;
  Check(kernel.invoke(arguments, nullptr, &failure) == 0, "the call");
  Check(out[0] == 12 && out[1] == 24 && out[2] == 36, "2 x + y");
}

void CheckSize(const DovetailKernelLibrary& library) {
  DovetailArgument size = {};
  size.is_there = 1;
  size.value.integer = -1;
  Failure failure;
  Check(Find(library, "check_size")->invoke(&size, nullptr, &failure) == -1, "an exception");
  Check(failure.kind == DOVETAIL_VALUE_ERROR && failure.message == "size is negative",
        "its message");
}

}  // namespace

int main(int argc, char** argv) {
  Check(argc == 2, "usage: call_kernels kernels.so");
  void* handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) Check(false, dlerror());
  const auto describe =
      reinterpret_cast<DovetailKernelLibraryFunction>(dlsym(handle, DOVETAIL_KERNELS_SYMBOL));
  Check(describe != nullptr, DOVETAIL_KERNELS_SYMBOL);
  const DovetailKernelLibrary* library = describe();
  Check(library->major == DOVETAIL_KERNELS_MAJOR, "the version of the interface");
  ScaleAdd(*library);
  CheckSize(*library);
  std::cout << "consumer: kernels called without Python\n";
  return 0;
}
