#include "dovetail/python/exchange/torch/torch_storage.h"

#include <nanobind/nanobind.h>

#include <cstdint>

#include "dovetail/python/exchange/lifetime/owner.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/support/gil_guarded.h"
#include "dovetail/python/exchange/torch/torch_abi.h"
#include "dovetail/python/exchange/torch/torch_object.h"
#include "dovetail/python/exchange/torch/torch_symbol.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// PyTorch's stable C interface for at::Tensor, which is one counted pointer. A c10::Storage is a
// counted pointer of the same base class with the same virtual destructor, so the two functions
// count storages, too.
using CopyHandle = int (*)(void* counted_pointer, void** handle);
using DropHandle = int (*)(void* handle);
struct Handles {
  GilGuarded<CopyHandle> copy{nullptr};
  GilGuarded<DropHandle> drop{nullptr};
};
constinit Handles handles;

bool FindHandles() {
  const auto copy = reinterpret_cast<CopyHandle>(FindTorchSymbol(kTorchCpu, kCopyHandle));
  const auto drop = reinterpret_cast<DropHandle>(FindTorchSymbol(kTorchCpu, kDropHandle));
  handles.copy.store(copy);
  handles.drop.store(drop);
  return copy != nullptr && drop != nullptr;
}

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
  if (*storage == nullptr || handles.copy.load()(static_cast<void*>(storage), &handle) != 0)
    return nullptr;
  uint8_t* const resizable = ResizableOf(*storage);
  if (*resizable != 0) *resizable = 0;
  return handle;
}

// Whether `x` says of its storage what is read here.
bool Agrees(PyObject* x) {
  if (!HasTorchImpl(x)) return false;
  void* const storage = *StorageOf(x);
  return reinterpret_cast<int64_t>(storage) == EvaluateTorchInt("x.untyped_storage()._cdata", x) &&
         *ResizableOf(storage) == EvaluateTorchInt("x.untyped_storage().resizable()", x);
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
  SetForeignRelease(&LetGoOfTorchStorage, &DropTorchStorage);
  if (!FindHandles()) return false;
  const nb::object mine = EvaluateTorch("torch.zeros(1, dtype=torch.uint8, device='cpu')");
  const nb::object borrowed = EvaluateTorch("torch.frombuffer(bytearray(1), dtype=torch.uint8)");
  if (!mine.is_valid() || !borrowed.is_valid() ||
      EvaluateTorchInt("x.untyped_storage().resizable()", mine.ptr()) != 1 || !Agrees(mine.ptr()) ||
      !Agrees(borrowed.ptr())) {
    return false;
  }
  // The storage object is a use of its own, and is kept so that the count is of the same uses.
  const nb::object storage = EvaluateTorch("x.untyped_storage()", mine.ptr());
  const auto uses = [&] {
    return storage.is_valid()
               ? EvaluateTorchInt("torch._C._storage_Use_Count(x._cdata)", storage.ptr())
               : -1;
  };
  const int64_t before = uses();
  void* const handle = Hold(mine.ptr());
  if (handle == nullptr) return false;
  const int64_t held = uses();
  DropTorchStorage(handle);
  return before > 0 && held == before + 1 && uses() == before && Agrees(mine.ptr());
}

void DropTorchStorage(void* held) { (void)handles.drop.load()(held); }

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
