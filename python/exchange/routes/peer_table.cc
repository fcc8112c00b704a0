#include "dovetail/python/exchange/routes/peer_table.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"
#include "dovetail/python/exchange/peers/jax_in.h"
#include "dovetail/python/exchange/peers/numpy_in.h"
#include "dovetail/python/exchange/peers/ort_value_in.h"
#include "dovetail/python/exchange/peers/paddle_in.h"
#include "dovetail/python/exchange/peers/tensorflow_in.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"

namespace dovetail::python {
namespace {

OwnClass own{};

// Without InstallOwnClass() the class is that of another module, with a __dlpack__ method and an
// exchange API.
ExchangeResult ImportOwn(PyObject* x, Tensor* tensor) {
  return own.import != nullptr ? own.import(x, tensor) : ExchangeResult::kNotTaken;
}
ExchangeResult BorrowOwn(PyObject* x, DovetailBorrowed* borrowed) {
  return own.borrow != nullptr ? own.borrow(x, borrowed)
                               : BorrowByExchangeApi(dovetail_tensor, x, borrowed);
}
ExchangeResult BorrowTvmFfi(PyObject* x, DovetailBorrowed* borrowed) {
  return BorrowByExchangeApi(tvm_ffi_tensor, x, borrowed);
}

// What ImportNumPyArray does not take __dlpack__ has to refuse.
ExchangeResult ImportNumPy(PyObject* x, Tensor* tensor) {
  return ImportNumPyArray(x, tensor) ? ExchangeResult::kDone : ExchangeResult::kNotTaken;
}

constexpr char kExchangeApiName[] = "DLPack C exchange API";
constexpr ReadOnlyMemory kNone = ReadOnlyMemory::kNone, kCpu = ReadOnlyMemory::kCpu,
                         kAny = ReadOnlyMemory::kAny;

// What each library accepts: read-only memory, negative strides, other strides, alignment.
// Measured with NumPy 2.4, PyTorch 2.13, Paddle 3.3, JAX 0.10, tvm-ffi 0.1.15, PyArrow 26,
// ONNX Runtime 1.32 and TensorFlow 2.21.
//
// PyTorch and Paddle would take read-only memory and write to it; PyTorch aborts on negative
// strides. So would ONNX Runtime: a value may be a session's output. JAX, TensorFlow and Arrow
// never write, so they may share read-only memory (dovetail._targets). JAX may reuse the memory of
// a donated array, but on the CPU not memory that it shares. JAX copies misaligned memory by
// itself, without a warning; TensorFlow's operations abort on it.
constexpr AcceptedMemory kEverything = {kAny, true, true, 1};
constexpr AcceptedMemory kForPyTorch = {kNone, false, true, 1};  // and for Paddle
constexpr AcceptedMemory kForJax = {kCpu, false, false, 64};     // and for TensorFlow
constexpr AcceptedMemory kForTvmFfi = {kNone, true, true, 1};    // and for CuPy
constexpr AcceptedMemory kForPyArrow = {kAny, false, false, 1};
constexpr AcceptedMemory kForOnnxRuntime = {kNone, false, false, 1};

// The order is that in which a class is looked for. Our own class precedes those of other libraries
// named "Tensor", which are looked up by name until their library is imported.
constexpr PeerClass kPeers[] = {
    {numpy_ndarray, "NumPy array", &ImportNumPy, &HoldNumPyBytes, &BorrowNumPyArray, WayOut::kNumPy,
     kEverything, &torch_tensor, "dovetail._numpy", "to_numpy"},
    {dovetail_tensor, "dovetail.Tensor", &ImportOwn, nullptr, &BorrowOwn, WayOut::kOwn,
     kEverything},
    {torch_tensor, kExchangeApiName, &ImportTorchTensor, nullptr, &BorrowTorchTensor,
     WayOut::kExchangeApi, kForPyTorch, &numpy_ndarray, "torch", "from_dlpack"},
    {paddle_tensor, kExchangeApiName, &ImportPaddleTensor, nullptr, &BorrowPaddleTensor,
     WayOut::kExchangeApi, kForPyTorch, &numpy_ndarray, "paddle", "from_dlpack"},
    {jax_array_impl, nullptr, nullptr, nullptr, &BorrowJaxArray},
    {jax_array, nullptr, nullptr, nullptr, nullptr, WayOut::kFunction, kForJax, nullptr,
     "dovetail._targets", "to_jax", &jax_array_impl},
    {tvm_ffi_tensor, nullptr, nullptr, nullptr, &BorrowTvmFfi, WayOut::kFunction, kForTvmFfi,
     nullptr, "tvm_ffi", "from_dlpack"},
    {cupy_ndarray, nullptr, nullptr, nullptr, nullptr, WayOut::kFunction, kForTvmFfi, nullptr,
     "cupy", "from_dlpack"},
    {pyarrow_array, nullptr, nullptr, nullptr, nullptr, WayOut::kFunction, kForPyArrow, nullptr,
     "dovetail._targets", "to_pyarrow"},
    {onnxruntime_ort_value, "OrtValue", &ImportOrtValue, nullptr, nullptr, WayOut::kFunction,
     kForOnnxRuntime, nullptr, "dovetail._targets", "to_onnxruntime"},
    {tensorflow_eager_tensor, "tf.experimental.dlpack", &ImportTensorFlowTensor, nullptr, nullptr},
    {tensorflow_tensor, nullptr, nullptr, nullptr, nullptr, WayOut::kFunction, kForJax, nullptr,
     "dovetail._targets", "to_tensorflow", &tensorflow_eager_tensor},
    {builtins_bytes, nullptr, nullptr, &HoldBytesObject, nullptr},
};

// One row of ImportKnown(). A template, so that each row's function is called directly. (Not
// "if constexpr": with UBSan, g++ takes no comparison of function addresses for a constant.)
template <size_t kRow>
[[gnu::always_inline]] inline bool ImportByRow(PyObject* x, Tensor* tensor, const char** way,
                                               ExchangeResult* result) {
  if (kPeers[kRow].import != nullptr) {  // folded; no constant expression under UBSan
    if (!kPeers[kRow].type.Is(Py_TYPE(x))) return false;
    *way = kPeers[kRow].way_in;
    *result = kPeers[kRow].import(x, tensor);
    return true;
  }
  return false;
}

template <size_t... kRows>
[[gnu::always_inline]] inline ExchangeResult ImportByRows(PyObject* x, Tensor* tensor,
                                                          const char** way,
                                                          std::index_sequence<kRows...>) {
  ExchangeResult result = ExchangeResult::kNotTaken;
  (void)(ImportByRow<kRows>(x, tensor, way, &result) || ...);
  return result;
}

// The same for HoldKnownBytes().
template <size_t kRow>
[[gnu::always_inline]] inline bool HoldByRow(PyObject* x, HeldBytes* bytes,
                                             ExchangeResult* result) {
  if (kPeers[kRow].hold_bytes != nullptr) {  // folded; no constant expression under UBSan
    if (!kPeers[kRow].type.Is(Py_TYPE(x))) return false;
    *result = ResultOf(kPeers[kRow].hold_bytes(x, bytes));
    return true;
  }
  return false;
}

template <size_t... kRows>
[[gnu::always_inline]] inline ExchangeResult HoldByRows(PyObject* x, HeldBytes* bytes,
                                                        std::index_sequence<kRows...>) {
  ExchangeResult result = ExchangeResult::kNotTaken;
  (void)(HoldByRow<kRows>(x, bytes, &result) || ...);
  return result;
}

// The same for BorrowKnown().
template <size_t kRow>
[[gnu::always_inline]] inline bool BorrowByRow(PyObject* x, DovetailBorrowed* borrowed,
                                               ExchangeResult* result) {
  if (kPeers[kRow].borrow != nullptr) {  // folded; no constant expression under UBSan
    if (!kPeers[kRow].type.Is(Py_TYPE(x))) return false;
    *result = kPeers[kRow].borrow(x, borrowed);
    return true;
  }
  return false;
}

template <size_t... kRows>
[[gnu::always_inline]] inline ExchangeResult BorrowByRows(PyObject* x, DovetailBorrowed* borrowed,
                                                          std::index_sequence<kRows...>) {
  ExchangeResult result = ExchangeResult::kNotTaken;
  (void)(BorrowByRow<kRows>(x, borrowed, &result) || ...);
  return result;
}

}  // namespace

ExchangeResult BorrowKnown(PyObject* x, DovetailBorrowed* borrowed) {
  return BorrowByRows(x, borrowed, std::make_index_sequence<std::size(kPeers)>());
}

ExchangeResult ImportKnown(PyObject* x, Tensor* tensor, const char** way) {
  return ImportByRows(x, tensor, way, std::make_index_sequence<std::size(kPeers)>());
}

ExchangeResult HoldKnownBytes(PyObject* x, HeldBytes* bytes) {
  return HoldByRows(x, bytes, std::make_index_sequence<std::size(kPeers)>());
}

const PeerClass* FindPeer(PyTypeObject* type) {
  for (const PeerClass& peer : kPeers) {
    if (peer.way_out == WayOut::kNone) continue;
    if (peer.type.Is(type) || (peer.objects != nullptr && peer.objects->Is(type))) return &peer;
  }
  return nullptr;
}

const PeerClass* FindPeerOrBase(PyTypeObject* type) {
  if (const PeerClass* peer = FindPeer(type)) return peer;
  for (const PeerClass& peer : kPeers) {
    if (peer.way_out != WayOut::kNone && peer.type.IsBaseOf(type)) return &peer;
  }
  return nullptr;
}

const char* PeerNames() {
  static const std::string* const names = [] {
    auto* text = new std::string;
    for (const PeerClass& peer : kPeers) {
      if (peer.way_out == WayOut::kNone) continue;
      absl::StrAppend(text, text->empty() ? "" : ", ", peer.type.module(), ".", peer.type.name());
    }
    return text;
  }();
  return names->c_str();
}

void InstallOwnClass(PyTypeObject* type, const OwnClass& functions) {
  own = functions;
  dovetail_tensor.Install(type);
}

}  // namespace dovetail::python
