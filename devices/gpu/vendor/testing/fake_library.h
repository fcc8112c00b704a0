// A test's access to a stand-in for a vendor's library (fake_log.h).
//
//   FakeLibrary fake("libcuda.so.1");              // the library is loaded already
//   fake.Fail("cuMemAlloc_v2", 2);                 // the next call returns 2
//   EXPECT_EQ(fake.TakeLog(), "cuMemAlloc_v2(64)");

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LIBRARY_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LIBRARY_H_

#include <dlfcn.h>

#include <string>

namespace dovetail_fake {

class FakeLibrary {
 public:
  explicit FakeLibrary(const char* name)
      : library_(dlopen(name, RTLD_NOW | RTLD_NOLOAD)),
        take_log_(Find<const char* (*)()>("dovetail_fake_take_log")),
        fail_(Find<void (*)(const char*, int)>("dovetail_fake_fail")) {}

  // Whether the process has loaded the stand-in, and not a real library or none.
  bool is_there() const { return take_log_ != nullptr && fail_ != nullptr; }

  // The calls since the last TakeLog.
  std::string TakeLog() { return take_log_(); }
  void Fail(const char* name, int result) { fail_(name, result); }

 private:
  template <typename Function>
  Function Find(const char* name) {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_;
  const char* (*take_log_)();
  void (*fail_)(const char*, int);
};

}  // namespace dovetail_fake

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_FAKE_LIBRARY_H_
