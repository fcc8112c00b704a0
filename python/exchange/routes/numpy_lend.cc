#include "dovetail/python/exchange/routes/numpy_lend.h"

#include "dovetail/core/internal/layout_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/interop/dlpack/lend.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/peers/numpy_in.h"

namespace dovetail::python {
namespace {

// Whether an import would accept what the view says.
bool IsValid(const TensorView& view) {
  Extent extent;
  ByteRange range;
  const int64_t count =
      internal_layout::Measure(view.rank(), view.shape.data(), view.strides.data(), &extent);
  return count == 0 || (count > 0 && BytesOfExtent(extent, view.dtype, view.packing, &range));
}

void Mark(void* deleted) { *static_cast<bool*>(deleted) = true; }

}  // namespace

PyObject* LendNumPyArray(const Peer& peer, PyObject* x) {
  const auto make = peer.exchange_function();
  if (make == nullptr || !peer.accepts.strides || peer.accepts.alignment != 1) return nullptr;
  int64_t strides[Layout::kMaxRank];
  TensorView view;
  if (!ViewNumPyArray(x, strides, &view) ||
      !peer.accepts.TakesAccess(view.access, view.device.type) ||
      !peer.accepts.TakesSigns(view.strides) || !IsValid(view)) {
    return nullptr;
  }

  // dlpack.h does not say who owns the struct when the function fails. Until it has succeeded the
  // deleter leaves a mark here, and the array is not held.
  bool deleted = false;
  UniqueDLPack lent = LendDLPack(view, {&Mark, &deleted});
  if (lent == nullptr) return nullptr;
  DLManagedTensorVersioned* const managed = lent.release();
  void* made = nullptr;
  const int failed = make(managed, &made);
  if (!deleted) {
    if (failed == 0) {
      SetRelease(managed, ReleaseObject(x));
      Py_INCREF(x);
    } else {
      managed->deleter(managed);
    }
  }
  return failed == 0 ? static_cast<PyObject*>(made) : nullptr;
}

}  // namespace dovetail::python
