// One call of a kernel: its arguments, wherever they come from, and what happens to them.
//
//   KernelCall call(loaded);
//   ... call.AddTensor() into call.value(i) for each parameter ...
//   if (call.CheckOverlaps() && call.Run(&results)) ...
//
// plain_call.cc loads Python's objects, torch_kernel.cc those of PyTorch's stack.

#ifndef DOVETAIL_PYTHON_KERNELS_LOADER_KERNEL_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_LOADER_KERNEL_CALL_H_

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dovetail/python/capi.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/loader/loaded_kernel.h"

namespace dovetail::python {

// What the author's function threw.
struct KernelFailure : DovetailFailure {
  KernelFailure();
  int32_t kind = DOVETAIL_RUNTIME_ERROR;
  std::string message;
};

// The Python exception of a DovetailFailure's kind.
PyObject* ExceptionOf(int32_t kind);
// Takes the Python error that is set. Needs the GIL.
void TakeSetError(DovetailFailure* failure);

class KernelCall {
 public:
  explicit KernelCall(const LoadedKernel& loaded);
  ~KernelCall() { Release(); }
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  // Ends the loans of the tensors. Needs the GIL if Python's objects were borrowed.
  void Release();

  const LoadedKernel& loaded() const { return loaded_; }
  DovetailCall* call() { return &call_; }
  // Of `loaded().parameters`.
  DovetailArgument& value(size_t i) { return values_[i]; }

  // Room for a tensor, with nothing held. It stays where it is.
  DovetailBorrowed* AddTensor() {
    DovetailBorrowed* const added = count_ < kInline ? &tensors_[count_] : AddMore();
    added->held = nullptr;
    ++count_;
    return added;
  }
  // Room for `count` values of a list, for the call.
  template <typename T>
  T* AddList(size_t count) {
    lists_.push_back(std::make_unique<int64_t[]>(count > 0 ? count : 1));
    return reinterpret_cast<T*>(lists_.back().get());
  }

  // Keeps an object for the call. Steals the reference.
  void Keep(PyObject* object) { kept_.push_back(object); }

  // What results are made like: the first tensor of the call, kept by the caller or by Keep().
  // nullptr if there is none.
  PyObject* like() const { return like_; }
  void NoteLike(PyObject* object) {
    if (like_ == nullptr) like_ = object;
  }

  // Names parameter `i` for errors, before its tensors are borrowed.
  void Name(size_t i) {
    call_.argument = loaded_.names[i];
    call_.position = static_cast<int32_t>(i);
  }

  // Empty, or what is wrong: a tensor has memory in common with another one, and must not.
  std::string FindOverlap() const;
  // Empty, or what is wrong: two tensors are on two devices of one type. The call has one stream.
  std::string FindOtherDevice() const;

  // Of parameter `i`, an int: whether its type has the number, and else what is wrong and the kind
  // of that failure.
  bool IsInRange(size_t i, int64_t number) const;
  std::string DescribeRange(size_t i, const std::string& number) const;
  int32_t KindOfRange(size_t i) const;
  // What is wrong with parameter `i`, a size that does not agree with those of its name.
  std::string DescribeSize(size_t i, int64_t size) const;

  // The bytes of all tensors.
  int64_t nbytes() const;
  // The first tensor on a GPU, else the first one; nullptr if there is none.
  const DovetailBorrowed* main_tensor() const;

  // Calls the author's function. `results` has kernel->num_results entries. False with what it
  // threw. With or without the GIL.
  bool Run(DLManagedTensorVersioned** results, KernelFailure* failure);

 private:
  static constexpr size_t kInline = 8;  // tensors
  static constexpr size_t kInlineValues = 16;
  static constexpr size_t kChunk = 32;

  bool Invoke(DLManagedTensorVersioned** results, KernelFailure* failure);
  DovetailBorrowed* AddMore();
  DovetailBorrowed* tensor(size_t i) const {
    return i < kInline ? const_cast<DovetailBorrowed*>(&tensors_[i])
                       : &more_[(i - kInline) / kChunk][(i - kInline) % kChunk];
  }

  const LoadedKernel& loaded_;
  DovetailArgument* values_ = inline_values_;
  size_t count_ = 0;
  PyObject* like_ = nullptr;
  std::unique_ptr<DovetailArgument[]> more_values_;
  std::vector<std::unique_ptr<DovetailBorrowed[]>> more_;
  std::vector<std::unique_ptr<int64_t[]>> lists_;
  std::vector<PyObject*> kept_;
  DovetailCall call_;
  DovetailArgument inline_values_[kInlineValues];
  DovetailBorrowed tensors_[kInline];
};

}  // namespace dovetail::python

#endif  // DOVETAIL_PYTHON_KERNELS_LOADER_KERNEL_CALL_H_
