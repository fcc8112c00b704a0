#include "dovetail/python/exchange/torch/torch_storage.h"

#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/lifetime/owner.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/torch/torch_abi.h"
#include "dovetail/python/exchange/torch/torch_object.h"
#include "dovetail/python/exchange/torch/torch_symbol.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// PyTorch's stable C interface for at::Tensor, which is one counted pointer. A c10::Storage is a
// counted pointer of the same base class with the same virtual destructor, so the two functions
// count storages, too.
struct Handles {
  int (*copy)(void* counted_pointer, void** handle) =
      reinterpret_cast<int (*)(void*, void**)>(FindTorchSymbol(kTorchCpu, kCopyHandle));
  int (*drop)(void* handle) = reinterpret_cast<int (*)(void*)>(FindTorchSymbol(kTorchCpu,
                                                                               kDropHandle));
};
Handles handles{nullptr, nullptr};

void** StorageOf(PyObject* x) {
  return reinterpret_cast<void**>(static_cast<char*>(TorchImplOf(x)) + kStorageInTensorImpl);
}

uint8_t* ResizableOf(void* storage) {
  return static_cast<uint8_t*>(storage) + kResizableInStorageImpl;
}

// A handle that keeps the storage; nullptr where there is none.
void* Hold(PyObject* x) {
  void** const storage = StorageOf(x);
  void* handle = nullptr;
  if (*storage == nullptr || handles.copy(static_cast<void*>(storage), &handle) != 0)
    return nullptr;
  uint8_t* const resizable = ResizableOf(*storage);
  if (*resizable != 0) *resizable = 0;
  return handle;
}

// Whether `x` says of its storage what is read here.
bool Agrees(const nb::object& x, const nb::object& storage) {
  return HasTorchImpl(x.ptr()) &&
         nb::cast<uintptr_t>(storage.attr("_cdata")) ==
             reinterpret_cast<uintptr_t>(*StorageOf(x.ptr())) &&
         *ResizableOf(*StorageOf(x.ptr())) == (nb::cast<bool>(storage.attr("resizable")()) ? 1 : 0);
}

// By PyTorch's Python side: dovetail._torch.
bool HoldByMethod(PyObject* x, Storage::Release* release) {
  nb::object module = nb::steal(PyImport_ImportModule("dovetail._torch"));
  PyObject* storage =
      module.is_valid() ? PyObject_CallMethod(module.ptr(), "hold_storage", "O", x) : nullptr;
  if (storage == nullptr) {
    ForgetException();
    return false;
  }
  *release = ReleaseObject(storage);
  return true;
}

}  // namespace

bool TorchStorageIsAsAssumed() {
  handles = Handles();
  SetForeignRelease(&LetGoOfTorchStorage, &DropTorchStorage);
  if (handles.copy == nullptr || handles.drop == nullptr) return false;
  try {
    const nb::object torch = nb::module_::import_("torch");
    const nb::object uint8 = torch.attr("uint8");
    const nb::object mine =
        torch.attr("zeros")(1, nb::arg("dtype") = uint8, nb::arg("device") = "cpu");
    const nb::object borrowed =
        torch.attr("frombuffer")(nb::bytearray("\0", 1), nb::arg("dtype") = uint8);
    const nb::object storage = mine.attr("untyped_storage")();
    if (!nb::cast<bool>(storage.attr("resizable")()) || !Agrees(mine, storage) ||
        !Agrees(borrowed, borrowed.attr("untyped_storage")())) {
      return false;
    }
    const nb::object count = torch.attr("_C").attr("_storage_Use_Count");
    const auto uses = [&] { return nb::cast<int64_t>(count(storage.attr("_cdata"))); };
    const int64_t before = uses();
    void* const handle = Hold(mine.ptr());
    if (handle == nullptr) return false;
    const int64_t held = uses();
    DropTorchStorage(handle);
    return held == before + 1 && uses() == before && Agrees(mine, storage);
  } catch (nb::python_error& e) {
    return RestoreInterrupt(e), false;
  } catch (const std::exception&) {
    return false;
  }
}

void DropTorchStorage(void* held) { (void)handles.drop(held); }

void LetGoOfTorchStorage(void* held) { LetGo(&DropTorchStorage, held); }

bool HoldTorchStorage(PyObject* x, Storage::Release* release) {
  static constinit TorchAssumption assumption(&TorchStorageIsAsAssumed);
  if (!assumption.Holds()) [[unlikely]]
    return PyErr_Occurred() == nullptr && HoldByMethod(x, release);
  void* const handle = Hold(x);
  *release = {&LetGoOfTorchStorage, handle};
  return handle != nullptr;
}

}  // namespace dovetail::python
