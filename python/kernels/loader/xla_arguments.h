// The arguments of a kernel, from a call frame of XLA's foreign function interface.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_XLA_ARGUMENTS_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_XLA_ARGUMENTS_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/python/kernels/loader/loaded_call.h"
#include "dovetail/python/kernels/xla_ffi.h"

namespace dovetail::python {

using internal_kernels::XlaBuffer;
using internal_kernels::XlaBuffers;
using internal_kernels::XlaCallFrame;

// What errors call JAX's arrays, which have no object here.
const internal_fit::ArgumentClass& JaxArray();

class XlaArguments {
 public:
  XlaArguments(const LoadedKernel& loaded, const XlaCallFrame& frame, int32_t device_type)
      : frame_(frame), device_{static_cast<DLDeviceType>(device_type), 0}, call_(loaded) {}
  ~XlaArguments() { call_.ReleaseCopies(); }
  XlaArguments(const XlaArguments&) = delete;
  XlaArguments& operator=(const XlaArguments&) = delete;

  // Checks all arguments and results. False with what the plain call would raise.
  bool Load(KernelFailure* failure);

  LoadedCall& call() { return call_; }

 private:
  bool FindDevice(KernelFailure* failure);
  // How many operands parameter `i` has; -1 for None.
  int64_t CountOperands(size_t i) const;
  bool CheckCount(size_t i) const;
  bool LoadValues(KernelFailure* failure);
  bool LoadTensors(KernelFailure* failure);
  bool LoadValue(size_t i, KernelFailure* failure);
  bool LoadOperand(size_t i, const XlaBuffer& operand, KernelFailure* failure);
  bool LoadBuffer(size_t i, const XlaBuffer& buffer, const DovetailBorrowed** tensor,
                  KernelFailure* failure);
  bool FillInOut(size_t i, const XlaBuffer& from, const XlaBuffer& to, KernelFailure* failure);
  // The next one; nullptr with a failure if there is none.
  const XlaBuffer* Next(const XlaBuffers& all, int64_t* at, KernelFailure* failure) const;
  bool SayBroken(KernelFailure* failure) const;

  const XlaCallFrame& frame_;
  DLDevice device_;
  void* stream_ = nullptr;
  const int64_t* operands_ = nullptr;  // of kOperandsAttribute; nullptr: the usual ones
  LoadedCall call_;
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_XLA_ARGUMENTS_H_
