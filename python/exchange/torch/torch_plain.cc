#include "dovetail/python/exchange/torch/torch_plain.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <mutex>

#include "dovetail/python/exchange/peers/peer_type.h"
#include "dovetail/python/exchange/support/error.h"
#include "dovetail/python/exchange/torch/torch_abi.h"
#include "dovetail/python/exchange/torch/torch_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// What plain tensors look like, learned from PyTorch when the assumptions are checked.
struct Plain {
  uint64_t dispatch_keys = 0;         // no tensor has none
  DLDataType dtypes[kScalarTypes]{};  // by the number of the scalar type; bits 0: not known
};
Plain known;  // written once

template <typename T>
T Read(const void* base, int offset) {
  T value;
  std::memcpy(static_cast<void*>(&value), static_cast<const char*>(base) + offset, sizeof(T));
  return value;
}

uint64_t KeysOf(PyObject* x) { return Read<uint64_t>(TorchImplOf(x), kDispatchKeysInTensorImpl); }
uint16_t ScalarTypeOf(PyObject* x) { return Read<uint16_t>(TorchImplOf(x), kTypeInTensorImpl); }

[[gnu::always_inline]] inline bool ReadAsAssumed(const Plain& plain, PyObject* x, DLTensor* lent) {
  char* const impl = static_cast<char*>(TorchImplOf(x));
  if (KeysOf(x) != plain.dispatch_keys) return false;
  const auto* storage = Read<const void*>(impl, kStorageInTensorImpl);
  const uint16_t type = ScalarTypeOf(x);
  const auto ndim = Read<uint64_t>(impl, kRankInTensorImpl);
  if (storage == nullptr || type >= kScalarTypes || ndim > kMaxTorchRank) return false;
  const DLDataType dtype = plain.dtypes[type];
  auto* const data = Read<char*>(storage, kDataInStorageImpl);
  if (dtype.bits == 0 || data == nullptr || Read<int64_t>(impl, kCountInTensorImpl) == 0 ||
      Read<uint8_t>(storage, kWriteCheckInStorageImpl) != 0) {
    return false;
  }
  char* const sizes = impl + kSizesInTensorImpl;
  int64_t* shape = reinterpret_cast<int64_t*>(sizes);
  int64_t* strides = shape + kInlineRank;
  if (ndim > kInlineRank) {
    shape = Read<int64_t*>(sizes, 0);
    strides = shape + ndim;
  }
  lent->data = data + Read<int64_t>(impl, kOffsetInTensorImpl) * (dtype.bits * dtype.lanes / 8);
  lent->device = {kDLCPU, 0};
  lent->ndim = static_cast<int32_t>(ndim);
  lent->dtype = dtype;
  lent->shape = shape;
  lent->strides = strides;
  lent->byte_offset = 0;
  return true;
}

bool IsSame(const DLTensor& a, const DLTensor& b) {
  const size_t nbytes = sizeof(int64_t) * static_cast<size_t>(a.ndim);
  return a.data == b.data && a.ndim == b.ndim && a.byte_offset == b.byte_offset &&
         std::memcmp(&a.device, &b.device, sizeof(a.device)) == 0 &&
         std::memcmp(&a.dtype, &b.dtype, sizeof(a.dtype)) == 0 &&
         std::memcmp(a.shape, b.shape, nbytes) == 0 &&
         std::memcmp(a.strides, b.strides, nbytes) == 0;
}

// Whether what is read of `x` is what the exchange API says. Learns the dtype of `x`.
bool Agrees(Plain& plain, PyObject* x) {
  const DLPackExchangeAPI* api =
      torch_tensor.Is(Py_TYPE(x)) ? torch_tensor.exchange_api() : nullptr;
  if (api == nullptr || api->dltensor_from_py_object_no_sync == nullptr || !HasTorchImpl(x)) {
    return false;
  }
  DLTensor told{}, read{};
  if (api->dltensor_from_py_object_no_sync(x, &told) != 0) {
    ForgetException();
    return false;
  }
  const uint16_t type = ScalarTypeOf(x);
  if (type >= kScalarTypes) return false;
  plain.dtypes[type] = told.dtype;
  return ReadAsAssumed(plain, x, &read) && IsSame(read, told);
}

// All elements of the list agree.
bool AllAgree(Plain& plain, const char* list) {
  const nb::object tensors = EvaluateTorch(list);
  if (!tensors.is_valid() || !PyList_Check(tensors.ptr())) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors.ptr()); ++i) {
    if (!Agrees(plain, PyList_GET_ITEM(tensors.ptr(), i))) return false;
  }
  return true;
}

// None of the elements of the list is read.
bool NoneIsRead(const Plain& plain, const char* list) {
  const nb::object tensors = EvaluateTorch(list);
  if (!tensors.is_valid() || !PyList_Check(tensors.ptr())) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(tensors.ptr()); ++i) {
    DLTensor read;
    PyObject* const x = PyList_GET_ITEM(tensors.ptr(), i);
    if (!HasTorchImpl(x) || ReadAsAssumed(plain, x, &read)) return false;
  }
  return true;
}

bool Learn(Plain& plain) {
  const nb::object first = EvaluateTorch("torch.zeros(1, device='cpu')");
  if (!first.is_valid() || !HasTorchImpl(first.ptr())) return false;
  plain.dispatch_keys = KeysOf(first.ptr());
  return AllAgree(
             plain,
             "[torch.zeros(3, dtype=d, device='cpu')[1:] for d in (torch.bool, torch.uint8, "
             "torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, "
             "torch.float32, torch.float64, torch.complex64, torch.complex128)]") &&
         AllAgree(plain,
                  "[torch.zeros((), device='cpu'), torch.zeros(2, 3, 4, device='cpu').mT[1:, ::2], "
                  "torch.zeros(2, 1, 3, 1, 2, 2, 2, device='cpu').transpose(0, 6)[1:], "
                  "torch.zeros(3, device='cpu').expand(2, 3), torch.frombuffer(bytearray(9), "
                  "dtype=torch.int8)[3:]]") &&
         NoneIsRead(
             plain,
             "[torch.zeros(0), torch._lazy_clone(torch.zeros(2)), torch.zeros(2).to_sparse(), "
             "torch.zeros(2, device='meta'), torch._neg_view(torch.zeros(2)), "
             "torch.zeros(2, dtype=torch.complex64).conj()]");
}

}  // namespace

bool TorchPlainIsAsAssumed() {
  Plain learned;
  if (!Learn(learned)) return false;
  static std::once_flag once;  // each check learns the same
  std::call_once(once, [&] { known = learned; });
  return true;
}

bool ReadPlainTorch(PyObject* x, DLTensor* lent) {
  static constinit TorchAssumption assumption(&TorchPlainIsAsAssumed);
  return assumption.Holds() && ReadAsAssumed(known, x, lent);
}

bool PlainTorchMayRequireGrad(PyObject* x) {
  return Read<const void*>(TorchImplOf(x), kGradientInTensorImpl) != nullptr;
}

}  // namespace dovetail::python
