#include "dovetail/python/module/functions/python_sources.h"

#include <nanobind/nanobind.h>
#include <sys/types.h>

#include <new>
#include <utility>

#include "dovetail/core/stream.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/thread_end.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

struct Functions {
  nb::object allocate, deallocate;
};

class PythonSource final : public MemorySource {
 public:
  PythonSource(PyObject* allocate, PyObject* deallocate)
      : functions_(new SharedFunctions(
            std::make_shared<Functions>(Functions{nb::borrow(allocate), nb::borrow(deallocate)}))) {
  }
  ~PythonSource() override { LetGo(&DropFunctions, functions_); }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    if (!MayCallPython()) {
      return absl::FailedPreconditionError(
          "The Python interpreter has ended, and with it the program's allocator.");
    }
    return HangAtThreadEnd([&]() -> absl::StatusOr<void*> {
      const nb::gil_scoped_acquire gil;
      nb::error_scope in_flight;
      // Frees that are due: the allocator may need that memory.
      HangAtThreadEnd([] { DrainPendingReleases(); });
      return Call((*functions_)->allocate, nbytes, stream);
    });
  }

  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    try {
      LetGo(&CallDeallocate, new Returned{*functions_, data, nbytes, stream});
    } catch (const std::bad_alloc&) {  // leaked
    }
  }

 private:
  using SharedFunctions = std::shared_ptr<Functions>;

  // Memory on its way back. It keeps the functions, and the stream, until it is there.
  struct Returned {
    SharedFunctions functions;
    void* data;
    size_t nbytes;
    Stream stream;
  };

  static void DropFunctions(void* functions) { delete static_cast<SharedFunctions*>(functions); }

  // With the GIL, and no error set.
  static absl::StatusOr<void*> Call(const nb::object& allocate, size_t nbytes,
                                    const Stream& stream) {
    const nb::object address = CallWith(allocate, [&] { return nb::make_tuple(nbytes, stream); });
    // ctypes makes None of NULL.
    if (address.is_valid() && address.is_none()) return ForgetCause(), nullptr;
    const bool is_address = address.is_valid() && PyIndex_Check(address.ptr()) != 0;
    if (address.is_valid() && !is_address) {
      PyErr_Format(PyExc_TypeError, "allocate() must return an address, an int, not %.200s",
                   Py_TYPE(address.ptr())->tp_name);
    }
    const nb::object number = nb::steal(
        is_address ? HangAtThreadEnd([&] { return PyNumber_Index(address.ptr()); }) : nullptr);
    void* const data = number.is_valid() ? PyLong_AsVoidPtr(number.ptr()) : nullptr;
    if (PyErr_Occurred() == nullptr) {
      ForgetCause();
      return data;
    }
    const bool no_memory = PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
    const std::string why =
        HangAtThreadEnd([] { return NoteCause("the program's allocator raised"); });
    return no_memory ? absl::ResourceExhaustedError(why) : absl::UnknownError(why);
  }

  static void CallDeallocate(void* context) {
    const std::unique_ptr<Returned> memory(static_cast<Returned*>(context));
    nb::error_scope in_flight;
    const nb::object& deallocate = memory->functions->deallocate;
    const nb::object done = CallWith(deallocate, [&] {
      return nb::make_tuple(reinterpret_cast<uintptr_t>(memory->data), memory->nbytes,
                            memory->stream);
    });
    if (!done.is_valid()) HangAtThreadEnd([&] { PyErr_WriteUnraisable(deallocate.ptr()); });
  }

  // Invalid with an error set.
  template <typename Arguments>
  static nb::object CallWith(const nb::object& function, const Arguments& arguments) {
    try {
      const nb::tuple given = arguments();
      return nb::steal(
          HangAtThreadEnd([&] { return PyObject_CallObject(function.ptr(), given.ptr()); }));
    } catch (nb::python_error& e) {
      e.restore();
    } catch (const std::exception& e) {
      if (PyErr_Occurred() == nullptr) Raise(PyExc_RuntimeError, e.what());
    }
    return {};
  }

  SharedFunctions* const functions_;
};

class CSource final : public MemorySource {
 public:
  using AllocateFunction = void* (*)(ssize_t nbytes, int device, void* stream);
  using DeallocateFunction = void (*)(void* data, ssize_t nbytes, int device, void* stream);

  CSource(uintptr_t allocate, uintptr_t deallocate, PyObject* owner)
      : allocate_(reinterpret_cast<AllocateFunction>(allocate)),
        deallocate_(reinterpret_cast<DeallocateFunction>(deallocate)),
        owner_(ReleaseObject(Py_NewRef(owner))) {}
  ~CSource() override { owner_.function(owner_.context); }

  absl::StatusOr<void*> Allocate(size_t nbytes, const Stream& stream) override {
    return allocate_(static_cast<ssize_t>(nbytes), stream.device().index, Handle(stream));
  }
  void Deallocate(void* data, size_t nbytes, const Stream& stream) noexcept override {
    if (!Py_IsInitialized()) return;
    deallocate_(data, static_cast<ssize_t>(nbytes), stream.device().index, Handle(stream));
  }

 private:
  static void* Handle(const Stream& stream) {
    return reinterpret_cast<void*>(static_cast<uintptr_t>(stream.native()));
  }

  const AllocateFunction allocate_;
  const DeallocateFunction deallocate_;
  const Storage::Release owner_;
};

}  // namespace

std::unique_ptr<MemorySource> MakePythonSource(PyObject* allocate, PyObject* deallocate) {
  return std::make_unique<PythonSource>(allocate, deallocate);
}

std::unique_ptr<MemorySource> MakeCSource(uintptr_t allocate, uintptr_t deallocate,
                                          PyObject* owner) {
  return std::make_unique<CSource>(allocate, deallocate, owner);
}

}  // namespace dovetail::python
