// One call of a kernel: its arguments, wherever they come from, and what happens to them.
//
//   CallRoom room;
//   KernelCall call(facts, &room);
//   ... call.AddTensor() into call.value(i) for each parameter ...
//   if (call.CheckOverlap(&failure) && call.Run(results, &failure)) ...
//
// The package has one for each of its doors (loader/loaded_call.h), and tvm_call.h one for tvm-ffi.
// C++17, without Python.

#ifndef DOVETAIL_PYTHON_KERNELS_KERNEL_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_KERNEL_CALL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "dovetail/python/args/overlap.h"
#include "dovetail/python/borrowed.h"
#include "dovetail/python/fit/complaint.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/fit/words.h"
#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_facts.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

using internal_fit::Words;

// Puts the kernel's name before what its function threw. Throws nothing.
[[gnu::cold, gnu::noinline]] inline void SayKernel(const DovetailKernel& kernel,
                                                   KernelFailure* failure) noexcept {
  try {
    failure->message = Words(kernel.name, "(): ", failure->message);
  } catch (...) {
    Report(failure);
  }
}

// The kind of the failure of a tensor that does not fit.
inline int32_t KindOfMisfit(internal_fit::Want want) {
  using internal_fit::Want;
  if (want == Want::kDevice || want == Want::kType || want == Want::kRank) {
    return DOVETAIL_TYPE_ERROR;
  }
  return want == Want::kAccess ? DOVETAIL_RUNTIME_ERROR : DOVETAIL_VALUE_ERROR;
}

// Room for what most calls have. (Its owner has it behind what else it has: it is long.)
struct CallRoom {
  static constexpr size_t kTensors = 8;
  static constexpr size_t kValues = 16;
  DovetailArgument values[kValues];
  DovetailBorrowed tensors[kTensors];
};

class KernelCall {
 public:
  // Both are borrowed.
  KernelCall(const KernelFacts& facts, CallRoom* room)
      : facts_(facts), values_(room->values), tensors_(room->tensors) {
    const size_t count = facts.named.size();
    if (count > CallRoom::kValues) values_ = AddList<DovetailArgument>(count);
    call_.function = facts.kernel->name;
    call_.argument = nullptr;
    call_.names = facts.names.data();
    call_.position = 0;
    call_.is_quiet = 0;
    call_.element = 0;
    call_.num_sizes = 0;
    call_.num_types = 0;
    call_.num_leads = 0;
  }
  ~KernelCall() {
    while (blocks_ != nullptr) ::operator delete(std::exchange(blocks_, blocks_->next));
  }
  KernelCall(const KernelCall&) = delete;
  KernelCall& operator=(const KernelCall&) = delete;

  const KernelFacts& facts() const { return facts_; }
  DovetailCall* call() { return &call_; }
  // Of facts().named.
  DovetailArgument& value(size_t i) { return values_[i]; }

  // Room for a tensor, with nothing held. It stays where it is.
  DovetailBorrowed* AddTensor() {
    DovetailBorrowed* const added = count_ < kInline ? &tensors_[count_] : AddMore();
    added->held = nullptr;
    ++count_;
    return added;
  }
  // The last tensor, which is the call's no more; nullptr if there is none.
  DovetailBorrowed* TakeTensor() { return count_ > 0 ? tensor(--count_) : nullptr; }
  // Room for `count` values of a list, for the call.
  template <typename T>
  T* AddList(size_t count) {
    static_assert(alignof(T) <= alignof(Block));
    return static_cast<T*>(AddBlock(count * sizeof(T)));
  }

  // Copies a text for the call, and ends it with NUL.
  void AddText(const char* text, size_t size, DovetailArgument* value) {
    char* const copy = AddList<char>(size + 1);
    std::memcpy(copy, text, size);
    copy[size] = '\0';
    value->value.text = copy;
    value->count = static_cast<int64_t>(size);
  }
  // Loads the tensors of parameter `i`, a list: load(k, tensor) for each, until one is false.
  template <typename Load>
  bool LoadList(size_t i, size_t count, Load load) {
    auto** const tensors = AddList<const DovetailBorrowed*>(count);
    values_[i].value.tensors = tensors;
    values_[i].count = 0;
    for (size_t k = 0; k < count; ++k) {
      Name(i);
      call_.element = static_cast<int32_t>(k + 1);
      if (!load(k, &tensors[k])) return false;
      ++values_[i].count;
    }
    call_.element = 0;
    return true;
  }

  // Names parameter `i` for errors, before its tensors are borrowed.
  void Name(size_t i) {
    call_.argument = facts_.names[i];
    call_.position = static_cast<int32_t>(i);
  }

  // Whether no tensor has memory in common with another one that must not.
  bool CheckOverlap(KernelFailure* failure) const {
    return !facts_.checks_overlap || FindOverlap(failure);
  }

  // Whether no two tensors are on two devices of one type: the call has one stream.
  bool CheckDevices(KernelFailure* failure) const {
    return !facts_.checks_devices || FindOtherDevice(failure);
  }

  // Of parameter `i`, an int that is given as `number`: whether its type has it, and its size
  // agrees with those of its name.
  bool CheckInt(size_t i, int64_t number, KernelFailure* failure) {
    const DovetailParameter& parameter = *facts_.named[i];
    if (number < parameter.least || number > parameter.most) {
      return SayRange(i, Words(number), failure);
    }
    if (parameter.size_name == 0) return true;
    call_.position = static_cast<int32_t>(i + 1);
    return internal_fit::FitsNamedSize(number, parameter.size_name, &call_) ||
           SaySize(i, number, failure);
  }
  // That a number is out of the range of parameter `i`.
  [[gnu::cold, gnu::noinline]] bool SayRange(size_t i, const std::string& number,
                                             KernelFailure* failure) const {
    const DovetailParameter& parameter = *facts_.named[i];
    return failure->Say(
        parameter.size_name != 0 ? DOVETAIL_VALUE_ERROR : DOVETAIL_OVERFLOW_ERROR,
        Words(facts_.kernel->name, "(): argument '", facts_.names[i], "' must be from ",
              parameter.least, " to ", parameter.most, ", and is ", number));
  }
  // That argument `i` is of another kind: "a float", "None".
  [[gnu::cold, gnu::noinline]] bool SayKind(size_t i, const char* wanted, const std::string& is,
                                            KernelFailure* failure) const {
    const std::string element = call_.element > 0 ? Words(", element ", call_.element) : "";
    return failure->Say(DOVETAIL_TYPE_ERROR,
                        Words(facts_.kernel->name, "(): argument '", facts_.names[i], "'", element,
                              " must be ", wanted, ", and is ", is));
  }

  // The bytes of all tensors.
  int64_t nbytes() const {
    int64_t bytes = 0;
    for (size_t i = 0; i < count_; ++i) bytes += BytesOf(tensor(i)->tensor);
    return bytes;
  }
  // The first tensor on a GPU, else the first one; nullptr if there is none.
  const DovetailBorrowed* main_tensor() const {
    for (size_t i = 0; i < count_; ++i) {
      if (!IsHost(tensor(i)->tensor.device)) return tensor(i);
    }
    return count_ > 0 ? tensor(0) : nullptr;
  }

  // Calls the author's function. `results` has kernel->num_results entries. False with what it
  // threw. With or without the GIL.
  bool Run(DLManagedTensorVersioned** results, KernelFailure* failure) {
    if (Invoke(results, failure)) return true;
    SayKernel(*facts_.kernel, failure);
    return false;
  }

 private:
  static constexpr size_t kInline = CallRoom::kTensors;
  static constexpr size_t kChunk = 32;  // tensors

  // Memory for the call, which follows.
  struct alignas(16) Block {
    Block* next;
  };
  [[gnu::noinline]] void* AddBlock(size_t bytes) {
    blocks_ = new (::operator new(sizeof(Block) + bytes)) Block{blocks_};
    return blocks_ + 1;
  }

  // The tensors of one argument.
  struct Tensors {
    Tensors(const DovetailParameter& parameter, const DovetailArgument& value)
        : one(IsTensor(parameter) && value.is_there ? value.value.tensor : nullptr),
          all(Has(parameter, DOVETAIL_PARAMETER_LIST) && one != nullptr ? value.value.tensors
                                                                        : &one),
          count(one == nullptr ? 0
                : all == &one  ? 1
                               : value.count) {}
    const DovetailBorrowed* one;
    const DovetailBorrowed* const* all;
    int64_t count;
  };

  static bool IsHost(DLDevice device) {
    const DLDeviceType type = device.device_type;
    return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost;
  }
  static int64_t BytesOf(const DLTensor& tensor) {
    int64_t count = 1;
    for (int32_t i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
    return count * tensor.dtype.bits * tensor.dtype.lanes / 8;
  }

  [[gnu::cold, gnu::noinline]] DovetailBorrowed* AddMore() {
    if ((count_ - kInline) % kChunk == 0) more_.push_back(AddList<DovetailBorrowed>(kChunk));
    return tensor(count_);
  }
  DovetailBorrowed* tensor(size_t i) const {
    return i < kInline ? &tensors_[i] : &more_[(i - kInline) / kChunk][(i - kInline) % kChunk];
  }

  [[gnu::noinline]] bool FindOtherDevice(KernelFailure* failure) const {
    const DovetailBorrowed* const main = main_tensor();
    if (main == nullptr || IsHost(main->tensor.device)) return true;
    const DLDevice device = main->tensor.device;
    size_t main_at = 0;  // the parameter of `main`
    for (size_t i = 0; i < facts_.named.size(); ++i) {
      const Tensors mine(*facts_.named[i], values_[i]);
      for (int64_t k = 0; k < mine.count; ++k) {
        const DLDevice other = mine.all[k]->tensor.device;
        if (mine.all[k] == main) main_at = i;
        if (other.device_type != device.device_type || other.device_id == device.device_id) {
          continue;
        }
        return failure->Say(
            DOVETAIL_VALUE_ERROR,
            Words(facts_.kernel->name, "(): argument '", facts_.names[i], "' is on ",
                  internal_fit::DeviceText(other), ", and argument '", facts_.names[main_at],
                  "' is on ", internal_fit::DeviceText(device), ". Pass tensors on one device."));
      }
    }
    return true;
  }

  [[gnu::noinline]] bool FindOverlap(KernelFailure* failure) const {
    const auto& named = facts_.named;
    for (size_t i = 0; i < named.size(); ++i) {
      if (!Has(*named[i], DOVETAIL_PARAMETER_NO_OVERLAP)) continue;
      const Tensors mine(*named[i], values_[i]);
      for (size_t k = 0; k < named.size(); ++k) {
        const Tensors others(*named[k], values_[k]);
        for (int64_t a = 0; a < mine.count; ++a) {
          for (int64_t b = 0; b < (k == i ? a : others.count); ++b) {
            if (!MayOverlap(mine.all[a]->tensor, others.all[b]->tensor)) continue;
            return failure->Say(DOVETAIL_VALUE_ERROR,
                                Words(facts_.kernel->name, "(): argument '", facts_.names[i],
                                      "' has memory in common with argument '", facts_.names[k],
                                      "', and must not. Pass a copy."));
          }
        }
      }
    }
    return true;
  }

  [[gnu::cold, gnu::noinline]] bool SaySize(size_t i, int64_t size, KernelFailure* failure) const {
    const DovetailParameter& parameter = *facts_.named[i];
    const int32_t index = internal_fit::FindNamedSize(call_, parameter.size_name);
    const std::string is =
        Words(facts_.kernel->name, "(): argument '", facts_.names[i], "' is ", size, ", and ");
    if (index == call_.num_sizes) {
      return failure->Say(DOVETAIL_VALUE_ERROR, Words(is, "a call has at most ",
                                                      DOVETAIL_MAX_NAMED_SIZES, " named sizes"));
    }
    const auto& known = call_.sizes[index];
    return failure->Say(DOVETAIL_VALUE_ERROR,
                        Words(is, internal_fit::OtherArgument(call_, known.position), " has ",
                              parameter.size_text, " = ", known.size));
  }

  bool Invoke(DLManagedTensorVersioned** results, KernelFailure* failure) {
    const std::vector<int>& places = facts_.places;
    if (places.size() == facts_.named.size()) {  // no Stream
      return facts_.kernel->invoke(values_, results, failure) == 0;
    }
    std::vector<DovetailArgument> all(places.size());
    const DovetailBorrowed* const main = main_tensor();
    for (size_t i = 0; i < all.size(); ++i) {
      if (places[i] >= 0) {
        all[i] = values_[static_cast<size_t>(places[i])];
      } else {
        all[i].is_there = 1;
        all[i].value.stream = main != nullptr ? main->stream : nullptr;
      }
    }
    return facts_.kernel->invoke(all.data(), results, failure) == 0;
  }

  const KernelFacts& facts_;
  DovetailArgument* values_;
  DovetailBorrowed* tensors_;
  size_t count_ = 0;
  Block* blocks_ = nullptr;
  std::vector<DovetailBorrowed*> more_;  // kChunk each
  DovetailCall call_;
};

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_KERNEL_CALL_H_
