#include "dovetail/python/exchange/peers/torch/torch_read.h"

#include <atomic>
#include <cstdint>

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/peers/torch/torch_functions.h"
#include "dovetail/python/exchange/peers/torch/torch_marks.h"
#include "dovetail/python/exchange/peers/torch/torch_private.h"

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

}  // namespace dovetail::python
