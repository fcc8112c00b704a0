#include "dovetail/python/exchange/peers/torch/torch_memory.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"
#include "dovetail/python/exchange/peers/torch/torch_private.h"
#include "dovetail/python/exchange/peers/torch/torch_state.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// PyTorch's element types by their numbers, learned from the exchange API. Bits 0: not seen yet.
constexpr int32_t kMaxTypes = 64;
constexpr int32_t kMaxTorchRank = 64;
constinit std::atomic<DLDataType> types[kMaxTypes];

// The DLPack type of `x`, whose type has that number in PyTorch. Bits 0 if it can't be told.
DLDataType TypeOf(PyObject* x, int32_t number) {
  if (number < 0 || number >= kMaxTypes) return {};
  const DLDataType known = types[number].load(std::memory_order_relaxed);
  if (known.bits != 0) [[likely]]
    return known;
  DLTensor lent{};
  if (!LendByTorchTable(x, &lent)) return {};
  types[number].store(lent.dtype, std::memory_order_relaxed);
  return lent.dtype;
}

}  // namespace

bool LendByTorchTable(PyObject* x, DLTensor* lent) {
  const DLPackExchangeAPI* api = torch_tensor.exchange_api();
  if (api == nullptr || api->dltensor_from_py_object_no_sync == nullptr) return false;
  if (api->dltensor_from_py_object_no_sync(x, lent) == 0) return true;
  if (PyErr_Occurred() != nullptr) ForgetException();  // __dlpack__ raises a better one
  return false;
}

bool ReadPlainTorch(PyObject* x, DLTensor* lent) {
  const TorchFunctions& torch = FindTorchFunctions();
  if (!torch.is_complete || !IsPlainTorch(x)) return false;
  const TorchHandle handle = TorchHandleOf(x);
  int64_t ndim = 0;
  int32_t type = 0;
  if (torch.get_dim(handle, &ndim) != 0 || torch.get_sizes(handle, &lent->shape) != 0 ||
      torch.get_strides(handle, &lent->strides) != 0 || torch.get_dtype(handle, &type) != 0 ||
      torch.get_data_ptr(handle, &lent->data) != 0 || ndim > kMaxTorchRank) {
    return false;
  }
  lent->device = {kDLCPU, 0};
  lent->ndim = static_cast<int32_t>(ndim);
  lent->dtype = TypeOf(x, type);
  lent->byte_offset = 0;
  return lent->dtype.bits != 0;
}

namespace {

// Whether PyTorch's C functions may be asked; else its Python side is.
bool HandlesServe() { return FindTorchFunctions().is_complete && TorchHandlesAreKnown(); }

void DropTensor(void* handle) {
  (void)FindTorchFunctions().delete_tensor_object(static_cast<TorchHandle>(handle));
}
void LetGoOfTensor(void* handle) { LetGo(&DropTensor, handle); }

// The storage object; invalid if there is none. Only an interrupt leaves its error set.
nb::object StorageObjectOf(PyObject* x) {
  nb::object storage = nb::steal(PyObject_CallMethod(x, "untyped_storage", nullptr));
  if (!storage.is_valid()) ForgetException();
  return storage;
}

int64_t CallForInt(PyObject* x, const char* method) {
  const nb::object value = nb::steal(PyObject_CallMethod(x, method, nullptr));
  const int64_t number = value.is_valid() ? PyLong_AsLongLong(value.ptr()) : -1;
  if (PyErr_Occurred() != nullptr) ForgetException();
  return number;
}

struct Bounds {
  int64_t offset = -1;  // of element 0, in elements
  int64_t nbytes = -1;
};

Bounds BoundsOf(PyObject* x) {
  Bounds bounds;
  if (HandlesServe()) [[likely]] {
    const TorchFunctions& torch = FindTorchFunctions();
    if (torch.get_storage_offset(TorchHandleOf(x), &bounds.offset) != 0 ||
        torch.get_storage_size(TorchHandleOf(x), &bounds.nbytes) != 0) {
      return {};
    }
  } else if (PyErr_Occurred() == nullptr) {
    const nb::object storage = StorageObjectOf(x);
    if (storage.is_valid()) bounds.nbytes = CallForInt(storage.ptr(), "nbytes");
    if (bounds.nbytes >= 0) bounds.offset = CallForInt(x, "storage_offset");
  }
  return bounds;
}

// The bytes from the start of the storage to the end of the last element; 0 if there are no
// elements, the greatest number if there are more. NULL strides are row-major (rule 11).
int64_t ReachOf(const DLTensor& lent, int64_t offset) {
  constexpr int64_t kMore = std::numeric_limits<int64_t>::max();
  int64_t last = offset;
  int64_t row_major = 1;
  for (int32_t i = lent.ndim - 1; i >= 0; --i) {
    if (lent.shape[i] == 0) return 0;
    const int64_t stride = lent.strides != nullptr ? lent.strides[i] : row_major;
    int64_t step;
    if (__builtin_mul_overflow(lent.shape[i] - 1, stride, &step) ||
        __builtin_add_overflow(last, step, &last) ||
        __builtin_mul_overflow(row_major, lent.shape[i], &row_major)) {
      return kMore;
    }
  }
  int64_t bits;
  if (__builtin_mul_overflow(last + 1, int64_t{lent.dtype.bits} * lent.dtype.lanes, &bits)) {
    return kMore;
  }
  return (bits - 1) / 8 + 1;
}

}  // namespace

bool HoldTorchStorage(PyObject* x, const DLTensor& lent, Storage::Release* release) {
  if (HandlesServe()) [[likely]] {
    TorchHandle held = nullptr;
    if (FindTorchFunctions().reinterpret_tensor(TorchHandleOf(x), lent.ndim, lent.shape,
                                                lent.strides, /*more=*/0, &held) != 0) {
      return false;
    }
    static const bool is_named = (SetForeignRelease(&LetGoOfTensor, &DropTensor), true);
    (void)is_named;
    *release = {&LetGoOfTensor, held};
    return true;
  }
  if (PyErr_Occurred() != nullptr) return false;
  nb::object storage = StorageObjectOf(x);
  if (!storage.is_valid()) return false;
  *release = ReleaseObject(storage.release().ptr());
  return true;
}

ExchangeResult CheckTorchStorage(PyObject* x, const DLTensor& lent) {
  const Bounds bounds = BoundsOf(x);
  if (bounds.offset < 0 || bounds.nbytes < 0) return NotTaken();
  const int64_t reach = ReachOf(lent, bounds.offset);
  if (reach <= bounds.nbytes) [[likely]]
    return ExchangeResult::kDone;
  RaiseExchange(absl::StrCat("The tensor takes ", reach, " bytes of its storage, which has ",
                             bounds.nbytes,
                             ": it was resized or freed. Resize it first, as in "
                             "x.untyped_storage().resize_(nbytes)."));
  return ExchangeResult::kError;
}

}  // namespace dovetail::python
