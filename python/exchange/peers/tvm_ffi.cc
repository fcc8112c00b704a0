#include "dovetail/python/exchange/peers/tvm_ffi.h"

#include <cstddef>
#include <cstdint>

#include "dlpack/dlpack.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace dovetail::python {
namespace {

// A tensor of tvm-ffi's C interface: TVMFFIObject, then the DLTensor (tvm/ffi/c_api.h, since 0.1).
struct TvmFfiTensor {
  uint64_t combined_ref_count;
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void* self, int flags);
  DLTensor tensor;
};
static_assert(offsetof(TvmFfiTensor, tensor) == 24);
constexpr int32_t kTensorIndex = 70;  // kTVMFFITensor

// The object behind `x`. kNotTaken for one of another layout, and for a class without handles.
ExchangeResult Find(PyObject* x, const TvmFfiTensor** found) {
  static constinit InternedName name("__chandle__");
  PyObject* const handle = PyObject_CallMethodNoArgs(x, name.get());
  if (handle != nullptr) {
    *found = static_cast<const TvmFfiTensor*>(PyLong_AsVoidPtr(handle));
    Py_DECREF(handle);
  }
  if (handle == nullptr || (*found == nullptr && PyErr_Occurred() != nullptr)) [[unlikely]] {
    return ForgetException() ? ExchangeResult::kNotTaken : ExchangeResult::kError;
  }
  if (*found == nullptr) {
    RaiseExchange("The tvm_ffi.Tensor has no object: it was not initialised, or moved from.");
    return ExchangeResult::kError;
  }
  return (*found)->type_index == kTensorIndex ? ExchangeResult::kDone : ExchangeResult::kNotTaken;
}

}  // namespace

ExchangeResult BorrowTvmFfiTensor(PyObject* x, DovetailBorrowed* borrowed) {
  if (tvm_ffi_tensor.exchange_api() != nullptr) {
    return BorrowByExchangeApi(tvm_ffi_tensor, x, borrowed);
  }
  const TvmFfiTensor* found = nullptr;
  const ExchangeResult result = Find(x, &found);
  if (result != ExchangeResult::kDone) return result;
  if (found->tensor.device.device_type != kDLCPU) return ExchangeResult::kNotTaken;
  if (FillBorrowed(found->tensor, /*flags=*/0, borrowed)) [[likely]]
    return ExchangeResult::kDone;
  return RaiseDefect(found->tensor, /*flags=*/0);
}

}  // namespace dovetail::python
