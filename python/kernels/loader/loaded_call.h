// A call of a loaded kernel, whose tensors may hold what needs the GIL.
//
// plain_call.cc loads Python's objects, torch_kernel.cc those of PyTorch's stack, xla_kernel.cc the
// buffers of XLA.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_CALL_H_

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dlpack/dlpack.h"
#include "dovetail/python/capi.h"
#include "dovetail/python/fit/complaint.h"
#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_call.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

using internal_kernels::KernelFailure;

// The Python exception of a DovetailFailure's kind.
PyObject* ExceptionOf(int32_t kind);
// Sets the error. nullptr.
PyObject* Raise(const KernelFailure& failure);

class LoadedCall : public internal_kernels::KernelCall {
 public:
  explicit LoadedCall(const LoadedKernel& loaded) : KernelCall(loaded, &room_), loaded_(loaded) {}
  ~LoadedCall() { Release(); }

  // Ends the loans of the tensors. Needs the GIL if any holds something.
  void Release() {
    while (DovetailBorrowed* const tensor = TakeTensor()) Dovetail_Release(tensor);
    for (; !kept_.empty(); kept_.pop_back()) Py_DECREF(kept_.back());
  }
  // The same where no object of Python was borrowed: of copies alone. Any thread.
  void ReleaseCopies() {
    while (DovetailBorrowed* const tensor = TakeTensor()) {
      if (tensor->held != nullptr) tensor->held->deleter(tensor->held);
    }
  }

  const LoadedKernel& loaded() const { return loaded_; }

  // Tensors have no memory: what a copy would have is noted, and none is made.
  void TraceOnly() { traces_ = true; }

  // Keeps an object for the call. Steals the reference.
  void Keep(PyObject* object) { kept_.push_back(object); }

  // What results are made like: the first tensor of the call, kept by the caller or by Keep().
  // nullptr if there is none.
  PyObject* like() const { return like_; }
  void NoteLike(PyObject* object) {
    if (like_ == nullptr) like_ = object;
  }

  // Fills `borrowed`, a tensor of parameter `i`, with what a framework's runtime says of its own
  // tensor. Makes a copy if the parameter allows that and it helps. False with what the plain call
  // would raise, where the tensor's class is `argument`. Any thread, without Python.
  bool LoadLent(size_t i, const DLTensor& lent, void* stream,
                const internal_fit::ArgumentClass& argument, DovetailBorrowed* borrowed,
                KernelFailure* failure);
  // The same for a tensor in host memory that is row-major, and has no strides.
  bool LoadRowMajor(size_t i, const DLTensor& lent, const internal_fit::ArgumentClass& argument,
                    DovetailBorrowed* borrowed, KernelFailure* failure);

 private:
  bool CheckLent(const DovetailRequirements& wanted, const internal_fit::ArgumentClass& argument,
                 DovetailBorrowed* borrowed, KernelFailure* failure);
  bool MakeCopy(const DovetailRequirements& wanted, bool is_cast,
                const internal_fit::ArgumentClass& argument, DovetailBorrowed* borrowed,
                KernelFailure* failure);

  const LoadedKernel& loaded_;
  PyObject* like_ = nullptr;
  bool traces_ = false;
  std::vector<PyObject*> kept_;
  internal_kernels::CallRoom room_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_LOADED_CALL_H_
