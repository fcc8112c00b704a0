#include "dovetail/python/exchange/routes/peer_table.h"

#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/peers/cuda_core.h"
#include "dovetail/python/exchange/peers/cupy.h"
#include "dovetail/python/exchange/peers/jax.h"
#include "dovetail/python/exchange/peers/numpy.h"
#include "dovetail/python/exchange/peers/onnxruntime.h"
#include "dovetail/python/exchange/peers/paddle.h"
#include "dovetail/python/exchange/peers/pyarrow.h"
#include "dovetail/python/exchange/peers/tensorflow.h"
#include "dovetail/python/exchange/peers/torch/torch_in.h"
#include "dovetail/python/exchange/peers/tvm_ffi.h"
#include "dovetail/python/exchange/protocols/exchange_api.h"

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
constexpr Peer kOwnPeer = {
    .type = dovetail_tensor,
    .way_in = "dovetail.Tensor",
    .import = &ImportOwn,
    .borrow = &BorrowOwn,
    .way_out = WayOut::kOwn,
    .accepts = kEveryMemory,
};
constexpr Peer kBytesPeer = {.type = builtins_bytes, .hold_bytes = &HoldBytesObject};

// THE list of known classes, in the order in which one is looked for. Our own class precedes those
// of other libraries named "Tensor", which are looked up by name until their library is imported.
constexpr Peer kPeers[] = {
    kNumPyPeer,        kOwnPeer,
    kTorchPeer,        kPaddlePeer,
    kJaxArrayImplPeer, kJaxArrayPeer,
    kTvmFfiPeer,       kCupyPeer,
    kCudaCorePeer,     kPyArrowPeer,
    kOnnxRuntimePeer,  kTensorFlowEagerPeer,
    kTensorFlowPeer,   kTorchParameterPeer,
    kBytesPeer,
};

// Calls `use(peer)` with the first peer whose member `kWay` is set and whose class is that of `x`;
// kNotTaken without one. A template, so that each row's function is called directly. (Not "if
// constexpr": with UBSan, g++ takes no comparison of function addresses for a constant.)
template <auto kWay, size_t kRow, typename Use>
[[gnu::always_inline]] inline bool TryRow(PyObject* x, Use use, ExchangeResult* result) {
  if (kPeers[kRow].*kWay == nullptr) return false;  // folded
  if (!kPeers[kRow].type.Is(Py_TYPE(x))) return false;
  *result = use(kPeers[kRow]);
  return true;
}

template <auto kWay, typename Use, size_t... kRows>
[[gnu::always_inline]] inline ExchangeResult TryRows(PyObject* x, Use use,
                                                     std::index_sequence<kRows...>) {
  ExchangeResult result = ExchangeResult::kNotTaken;
  (void)(TryRow<kWay, kRows>(x, use, &result) || ...);
  return result;
}

template <auto kWay, typename Use>
[[gnu::always_inline]] inline ExchangeResult TryPeers(PyObject* x, Use use) {
  return TryRows<kWay>(x, use, std::make_index_sequence<std::size(kPeers)>());
}

}  // namespace

ExchangeResult BorrowKnown(PyObject* x, DovetailBorrowed* borrowed) {
  return TryPeers<&Peer::borrow>(
      x, [&](const Peer& peer) __attribute__((always_inline)) { return peer.borrow(x, borrowed); });
}

ExchangeResult ImportKnown(PyObject* x, Tensor* tensor, const char** way) {
  return TryPeers<&Peer::import>(x, [&](const Peer& peer) __attribute__((always_inline)) {
    *way = peer.way_in;
    return peer.import(x, tensor);
  });
}

ExchangeResult HoldKnownBytes(PyObject* x, HeldBytes* bytes) {
  return TryPeers<&Peer::hold_bytes>(x, [&](const Peer& peer) __attribute__((always_inline)) {
    return ResultOf(peer.hold_bytes(x, bytes));
  });
}

const Peer* FindPeer(PyTypeObject* type) {
  for (const Peer& peer : kPeers) {
    if (peer.way_out == WayOut::kNone) continue;
    if (peer.type.Is(type) || (peer.objects != nullptr && peer.objects->Is(type))) return &peer;
  }
  return nullptr;
}

const Peer* FindPeerOrBase(PyTypeObject* type) {
  if (const Peer* peer = FindPeer(type)) return peer;
  for (const Peer& peer : kPeers) {
    if (peer.way_out != WayOut::kNone && peer.type.IsBaseOf(type)) return &peer;
  }
  return nullptr;
}

const char* PeerNames() {
  static const std::string* const names = [] {
    auto* text = new std::string;
    for (const Peer& peer : kPeers) {
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
