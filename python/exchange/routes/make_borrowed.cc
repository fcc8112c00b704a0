#include "dovetail/python/exchange/routes/make_borrowed.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/fill.h"
#include "dovetail/python/exchange/routes/borrow_object.h"
#include "dovetail/python/exchange/routes/current_stream.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/exchange/routes/peer_table.h"
#include "dovetail/python/fit/result_sizes.h"

namespace dovetail::python {
namespace {

bool RefuseResult(PyObject* type, const DovetailCall& call, const std::string& what) {
  Raise(type, internal_fit::ResultRefusal(call, what));
  return false;
}

// The device of `like`, and the stream on which its library works there. False with an error set.
bool FindDevice(const DovetailRequirements& wanted, PyObject* like, DLDevice* device,
                void** stream) {
  *device = {kDLCPU, 0};
  *stream = nullptr;
  if (wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == kDLCPU ||
      like == nullptr) {
    return true;
  }
  DovetailRequirements any = {};
  any.device_type = DOVETAIL_ANY_DEVICE;
  DovetailBorrowed borrowed;
  if (BorrowObject(like, &any, nullptr, &borrowed) != 0) return false;
  *device = borrowed.tensor.device;
  *stream = borrowed.stream;
  Dovetail_Release(&borrowed);
  return true;
}

}  // namespace

bool FindResultType(const DovetailRequirements& wanted, const DovetailCall& call,
                    absl::FunctionRef<int(DLDataType)> can_hold, DLDataType* dtype) {
  *dtype = TypeToPass(wanted, call);
  if (dtype->bits == 0) return RefuseResult(PyExc_ValueError, call, "its type is not said");
  if (internal_fit::FindNamedType(call, wanted.type_name) < call.num_types) return true;
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) {
    const int held = can_hold(*dtype);
    if (held != 0) return held > 0;
    return RefuseResult(
        PyExc_TypeError, call,
        absl::StrCat("the library of the arguments has no ", ToDType(*dtype).ToString(),
                     ", as JAX without jax_enable_x64; a function whose Out is of OneOf<\"I\", "
                     "int64_t, int32_t> serves both"));
  }
  for (int32_t i = 0; i < wanted.num_types; ++i) {
    const int held = can_hold(wanted.types[i]);
    if (held < 0) return false;
    if (held == 0) continue;
    *dtype = wanted.types[i];
    break;
  }
  return true;
}

int CanHoldType(PyObject* like, DLDataType dtype) {
  const Peer* const peer = like != nullptr ? FindPeerOrBase(Py_TYPE(like)) : nullptr;
  return peer == nullptr || peer->can_hold == nullptr ? 1 : peer->can_hold(ToDType(dtype));
}

int MakeBorrowed(const DovetailRequirements* wanted, DovetailCall* call, PyObject* like,
                 DovetailBorrowed* borrowed) {
  borrowed->held = nullptr;
  internal_fit::ResultSizes sizes;
  DLDataType dtype;
  DLDevice device;
  void* stream;
  const std::string missing = FindResultSizes(*wanted, *call, &sizes);
  if (!missing.empty()) return RefuseResult(PyExc_ValueError, *call, missing), -1;
  const auto can_hold = [like](DLDataType type) { return CanHoldType(like, type); };
  if (!FindResultType(*wanted, *call, can_hold, &dtype) ||
      !FindDevice(*wanted, like, &device, &stream)) {
    return -1;
  }
  absl::StatusOr<Tensor> made =
      Tensor::Empty({sizes.all, static_cast<size_t>(sizes.ndim)}, ToDType(dtype), ToDevice(device));
  if (!made.ok()) return RaiseStatus(made.status()), -1;
  HoldBorrowed(*made, /*is_copied=*/true, borrowed);
  borrowed->object = nullptr;
  borrowed->stream = stream;
  const uintptr_t address = reinterpret_cast<uintptr_t>(borrowed->tensor.data);
  if (wanted->alignment > 1 && address % wanted->alignment != 0) {
    Dovetail_Release(borrowed);
    RefuseResult(PyExc_ValueError, *call,
                 absl::StrCat("no memory is aligned to ", wanted->alignment, " bytes"));
    return -1;
  }
  return 0;
}

}  // namespace dovetail::python
