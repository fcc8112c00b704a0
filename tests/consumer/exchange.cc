// A program without Dovetail that loads two libraries with a copy each, and passes tensors from one
// to the other: exchange FIRST.so SECOND.so
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

struct DLManagedTensorVersioned;

namespace {

struct Library {
  DLManagedTensorVersioned* (*make)(int64_t count);
  float (*sum)(DLManagedTensorVersioned* tensor);
};

bool Load(const char* path, Library* library) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "consumer: %s\n", dlerror());
    return false;
  }
  library->make = reinterpret_cast<decltype(library->make)>(dlsym(handle, "MakeTensor"));
  library->sum = reinterpret_cast<decltype(library->sum)>(dlsym(handle, "SumTensor"));
  return library->make != nullptr && library->sum != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  Library first, second;
  if (argc != 3 || !Load(argv[1], &first) || !Load(argv[2], &second)) return 1;
  // The owner of the memory frees it, after the other library's last use.
  for (int i = 0; i < 100; ++i) {
    if (second.sum(first.make(5)) != 10 || first.sum(second.make(1001)) != 500500) return 1;
  }
  std::printf("consumer: two libraries with a Dovetail each exchange tensors\n");
  return 0;
}
