#include "dovetail/python/exchange/routes/make_borrowed.h"

#include <algorithm>
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

namespace dovetail::python {
namespace {

// "" or what is wrong.
std::string AddSizes(const int64_t* more, int32_t count, ResultSizes* sizes) {
  if (count > DOVETAIL_MAX_NDIM - sizes->ndim) return "it has more than 64 dimensions";
  std::copy(more, more + count, sizes->all + sizes->ndim);
  sizes->ndim += count;
  return "";
}

// "halves(): argument 'low' can't be made: …"
std::string Refusal(const DovetailCall& call, const std::string& what) {
  const std::string result =
      call.argument != nullptr ? ArgumentPrefix(call) : std::string("A result");
  return absl::StrCat(result, " can't be made: ", what, ". Pass one for the function to write to.");
}
bool RefuseResult(PyObject* type, const DovetailCall& call, const std::string& what) {
  Raise(type, Refusal(call, what));
  return false;
}

// Each of these returns what is missing; empty if nothing is.
std::string AddLeading(const DovetailRequirements& wanted, const DovetailCall& call,
                       ResultSizes* sizes) {
  const int32_t index = FindNamedLead(call, wanted.leading_name);
  if (index == call.num_leads) return "no argument has its leading dimensions";
  const auto& known = call.leads[index];
  return AddSizes(known.shape, known.ndim, sizes);
}

std::string AddSize(const DovetailRequirements& wanted, int32_t entry, const DovetailCall& call,
                    ResultSizes* sizes) {
  int64_t size = wanted.shape[entry];
  if (size == DOVETAIL_ANY_SIZE) return "a size of it is not said";
  if (size < 0) {
    const int32_t known = FindNamedSize(call, NameIn(size));
    if (known == call.num_sizes) {
      return absl::StrCat("no argument has the size ", SizeName(wanted, entry));
    }
    if (__builtin_mul_overflow(MultipleIn(size), call.sizes[known].size, &size)) {
      return absl::StrCat("the size ", SizeName(wanted, entry), " is too large");
    }
  }
  return AddSizes(&size, 1, sizes);
}

std::string FindSizes(const DovetailRequirements& wanted, const DovetailCall& call,
                      ResultSizes* sizes) {
  if (wanted.shape == nullptr && (wanted.ndim > 0 || (wanted.flags & DOVETAIL_NDIM) == 0)) {
    return "its sizes are not said";
  }
  std::string missing;
  if ((wanted.flags & DOVETAIL_LEADING) != 0) missing = AddLeading(wanted, call, sizes);
  for (int32_t i = 0; missing.empty() && i < wanted.ndim; ++i) {
    missing = AddSize(wanted, i, call, sizes);
  }
  return missing;
}

// False with an error set.
bool FindType(const DovetailRequirements& wanted, const DovetailCall& call, PyObject* like,
              DLDataType* dtype) {
  *dtype = TypeToPass(wanted, call);
  if (dtype->bits == 0) return RefuseResult(PyExc_ValueError, call, "its type is not said");
  if (FindNamedType(call, wanted.type_name) < call.num_types) return true;
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) {
    const int can_hold = CanHoldType(like, *dtype);
    if (can_hold != 0) return can_hold > 0;
    return RefuseResult(
        PyExc_TypeError, call,
        absl::StrCat("the library of the arguments has no ", ToDType(*dtype).ToString(),
                     ", as JAX without jax_enable_x64. (A function whose Out is of "
                     "OneOf<\"I\", int64_t, int32_t> serves both)"));
  }
  for (int32_t i = 0; i < wanted.num_types; ++i) {
    const int can_hold = CanHoldType(like, wanted.types[i]);
    if (can_hold < 0) return false;
    if (can_hold == 0) continue;
    *dtype = wanted.types[i];
    break;
  }
  return true;
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

std::string FindResultSizes(const DovetailRequirements& wanted, const DovetailCall& call,
                            ResultSizes* sizes) {
  const std::string missing = FindSizes(wanted, call, sizes);
  return missing.empty() ? missing : Refusal(call, missing);
}

int CanHoldType(PyObject* like, DLDataType dtype) {
  const Peer* const peer = like != nullptr ? FindPeerOrBase(Py_TYPE(like)) : nullptr;
  return peer == nullptr || peer->can_hold == nullptr ? 1 : peer->can_hold(ToDType(dtype));
}

int MakeBorrowed(const DovetailRequirements* wanted, DovetailCall* call, PyObject* like,
                 DovetailBorrowed* borrowed) {
  borrowed->held = nullptr;
  ResultSizes sizes;
  DLDataType dtype;
  DLDevice device;
  void* stream;
  const std::string missing = FindSizes(*wanted, *call, &sizes);
  if (!missing.empty()) return RefuseResult(PyExc_ValueError, *call, missing), -1;
  if (!FindType(*wanted, *call, like, &dtype) || !FindDevice(*wanted, like, &device, &stream)) {
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
