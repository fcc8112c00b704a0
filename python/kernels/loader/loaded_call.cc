#include "dovetail/python/kernels/loader/loaded_call.h"

#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/protocols/fill.h"
#include "dovetail/python/exchange/routes/borrow_object.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/fit/fill_borrowed.h"

namespace dovetail::python {
namespace {

struct Kind {
  int32_t kind;
  PyObject* const* exception;
};
constexpr Kind kKinds[] = {{DOVETAIL_VALUE_ERROR, &PyExc_ValueError},
                           {DOVETAIL_INDEX_ERROR, &PyExc_IndexError},
                           {DOVETAIL_OVERFLOW_ERROR, &PyExc_OverflowError},
                           {DOVETAIL_MEMORY_ERROR, &PyExc_MemoryError},
                           {DOVETAIL_TYPE_ERROR, &PyExc_TypeError}};

// Makes `borrowed` what a copy of it would be.
void LikeCopy(const DovetailRequirements& wanted, Want misfit, const DovetailCall& call,
              DovetailBorrowed* borrowed) {
  DLTensor& tensor = borrowed->tensor;
  if (misfit == Want::kType) tensor.dtype = TypeToPass(wanted, call);
  if (misfit == Want::kDevice) tensor.device = {kDLCPU, 0};
  const bool is_column_major = (wanted.flags & DOVETAIL_F_CONTIGUOUS) != 0;
  int64_t stride = 1;
  for (int32_t k = 0; k < tensor.ndim; ++k) {
    const int32_t axis = is_column_major ? k : tensor.ndim - 1 - k;
    borrowed->strides[axis] = stride;
    stride *= tensor.shape[axis];
  }
}

}  // namespace

PyObject* ExceptionOf(int32_t kind) {
  for (const Kind& known : kKinds) {
    if (known.kind == kind) return *known.exception;
  }
  return PyExc_RuntimeError;
}

PyObject* Raise(const KernelFailure& failure) {
  return Raise(ExceptionOf(failure.kind), failure.message);
}

bool LoadedCall::LoadLent(size_t i, const DLTensor& lent, void* stream,
                          const internal_fit::ArgumentClass& argument, DovetailBorrowed* borrowed,
                          KernelFailure* failure) {
  const DovetailRequirements& wanted = *loaded_.named[i]->wanted;
  ++call()->position;
  if (!FillBorrowed(lent, 0, borrowed)) {
    return failure->Say(
        DOVETAIL_TYPE_ERROR,
        ArgumentPrefix(*call()) + " is of a type or a shape that kernels do not take");
  }
  borrowed->object = nullptr;
  borrowed->stream = stream;
  if (Fits(*borrowed, wanted, call())) [[likely]]
    return true;
  return CheckLent(wanted, argument, borrowed, failure);
}

bool LoadedCall::LoadRowMajor(size_t i, const DLTensor& lent,
                              const internal_fit::ArgumentClass& argument,
                              DovetailBorrowed* borrowed, KernelFailure* failure) {
  if (!internal_fit::FillRowMajor(lent, borrowed)) [[unlikely]]
    return LoadLent(i, lent, nullptr, argument, borrowed, failure);
  ++call()->position;
  borrowed->object = nullptr;
  const DovetailRequirements& wanted = *loaded_.named[i]->wanted;
  if (Fits(*borrowed, wanted, call())) [[likely]]
    return true;
  return CheckLent(wanted, argument, borrowed, failure);
}

// Of what Fits() is false of.
bool LoadedCall::CheckLent(const DovetailRequirements& wanted,
                           const internal_fit::ArgumentClass& argument, DovetailBorrowed* borrowed,
                           KernelFailure* failure) {
  if (FitsLast(*borrowed, wanted, call())) return true;
  Misfit misfit = FindMismatch(*borrowed, wanted, call());
  if (CopyMayHelp(misfit.want, *borrowed, wanted, *call())) {
    const bool is_cast = misfit.want == Want::kType;
    if (!traces_) return MakeCopy(wanted, is_cast, argument, borrowed, failure);
    LikeCopy(wanted, misfit.want, *call(), borrowed);
    misfit = FindMismatch(*borrowed, wanted, call());
  }
  return misfit.fits() ||
         failure->Say(internal_kernels::KindOfMisfit(misfit.want),
                      Complain(misfit, borrowed->tensor, wanted, *call(), argument));
}

// Without Python: it may be ending, and XLA's threads with it.
bool LoadedCall::MakeCopy(const DovetailRequirements& wanted, bool is_cast,
                          const internal_fit::ArgumentClass& argument, DovetailBorrowed* borrowed,
                          KernelFailure* failure) {
  const absl::Status done = CopyLent(wanted, *call(), is_cast, borrowed);
  if (!done.ok()) {
    const bool is_memory = done.code() == absl::StatusCode::kResourceExhausted;
    return failure->Say(is_memory ? DOVETAIL_MEMORY_ERROR : DOVETAIL_RUNTIME_ERROR,
                        ArgumentPrefix(*call()) + ": " + std::string(done.message()));
  }
  const Misfit misfit = FindMismatch(*borrowed, wanted, call());
  return misfit.fits() ||
         failure->Say(internal_kernels::KindOfMisfit(misfit.want),
                      Complain(misfit, borrowed->tensor, wanted, *call(), argument));
}

}  // namespace dovetail::python
