#include "dovetail/python/kernels/loader/kernel_call.h"

#include "absl/strings/str_cat.h"
#include "dovetail/core/device.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/python/args/overlap.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/routes/mismatch.h"

namespace dovetail::python {
namespace {

// Whether bytes above 127 come as UTF-8 has them: each lead byte with its continuation bytes.
bool IsUtf8(const std::string& text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i++]);
    const int more = lead < 0x80 ? 0 : lead < 0xc2 ? -1 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (more < 0 || lead > 0xf4) return false;
    for (int k = 0; k < more; ++k, ++i) {
      if (i == text.size() || (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return false;
    }
  }
  return true;
}

void SetFailure(DovetailFailure* self, int32_t kind, const char* message) {
  auto* const failure = static_cast<KernelFailure*>(self);
  failure->kind = kind;
  failure->message = message;
  if (IsUtf8(failure->message)) return;
  for (char& c : failure->message) c = static_cast<unsigned char>(c) < 0x80 ? c : '?';
}

int64_t BytesOf(const DLTensor& tensor) {
  int64_t count = 1;
  for (int32_t i = 0; i < tensor.ndim; ++i) count *= tensor.shape[i];
  return count * tensor.dtype.bits * tensor.dtype.lanes / 8;
}

bool IsHost(DLDevice device) {
  const DLDeviceType type = device.device_type;
  return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost;
}

// The tensors of one argument.
struct Tensors {
  explicit Tensors(const LoadedParameter& parameter, const DovetailArgument& value)
      : one(parameter.is_tensor() && value.is_there ? value.value.tensor : nullptr),
        all(parameter.is(DOVETAIL_PARAMETER_LIST) && one != nullptr ? value.value.tensors : &one),
        count(one == nullptr ? 0
              : all == &one  ? 1
                             : value.count) {}
  const DovetailBorrowed* one;
  const DovetailBorrowed* const* all;
  int64_t count;
};

}  // namespace

KernelFailure::KernelFailure() : DovetailFailure{&SetFailure} {}

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

}  // namespace

PyObject* ExceptionOf(int32_t kind) {
  for (const Kind& known : kKinds) {
    if (known.kind == kind) return *known.exception;
  }
  return PyExc_RuntimeError;
}

void TakeSetError(DovetailFailure* failure) {
  int32_t kind = DOVETAIL_RUNTIME_ERROR;
  for (const Kind& known : kKinds) {
    if (PyErr_ExceptionMatches(*known.exception)) kind = known.kind;
  }
  failure->set(failure, kind, MessageOfError().c_str());
  PyErr_Clear();
}

KernelCall::KernelCall(const LoadedKernel& loaded) : loaded_(loaded) {
  if (loaded.kernel->num_parameters > static_cast<int32_t>(kInlineValues)) {
    more_values_.reset(new DovetailArgument[static_cast<size_t>(loaded.kernel->num_parameters)]);
    values_ = more_values_.get();
  }
  call_.function = loaded.kernel->name;
  call_.argument = nullptr;
  call_.names = loaded.names.data();
  call_.position = 0;
  call_.is_quiet = 0;
  call_.element = 0;
  call_.num_sizes = 0;
  call_.num_types = 0;
  call_.num_leads = 0;
}

void KernelCall::Release() {
  while (count_ > 0) Dovetail_Release(tensor(--count_));
  for (; !kept_.empty(); kept_.pop_back()) Py_DECREF(kept_.back());
}

DovetailBorrowed* KernelCall::AddMore() {
  if ((count_ - kInline) % kChunk == 0) more_.emplace_back(new DovetailBorrowed[kChunk]);
  return tensor(count_);
}

std::string KernelCall::FindOverlap() const {
  const auto& parameters = loaded_.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is(DOVETAIL_PARAMETER_NO_OVERLAP)) continue;
    const Tensors mine(parameters[i], values_[i]);
    for (size_t k = 0; k < parameters.size(); ++k) {
      const Tensors others(parameters[k], values_[k]);
      for (int64_t a = 0; a < mine.count; ++a) {
        for (int64_t b = 0; b < (k == i ? a : others.count); ++b) {
          if (!MayOverlap(mine.all[a]->tensor, others.all[b]->tensor)) continue;
          return absl::StrCat(loaded_.kernel->name, "(): argument '", loaded_.names[i],
                              "' has memory in common with argument '", loaded_.names[k],
                              "', and must not. Pass a copy.");
        }
      }
    }
  }
  return "";
}

std::string KernelCall::FindOtherDevice() const {
  const DovetailBorrowed* const main = main_tensor();
  if (main == nullptr || IsHost(main->tensor.device)) return "";
  const DLDevice device = main->tensor.device;
  size_t main_at = 0;  // the parameter of `main`
  const auto& parameters = loaded_.parameters;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensors mine(parameters[i], values_[i]);
    for (int64_t k = 0; k < mine.count; ++k) {
      const DLDevice other = mine.all[k]->tensor.device;
      if (mine.all[k] == main) main_at = i;
      if (other.device_type != device.device_type || other.device_id == device.device_id) continue;
      return absl::StrCat(loaded_.kernel->name, "(): argument '", loaded_.names[i], "' is on ",
                          ToDevice(other).ToString(), ", and argument '", loaded_.names[main_at],
                          "' is on ", ToDevice(device).ToString(), ". Pass tensors on one device.");
    }
  }
  return "";
}

bool KernelCall::IsInRange(size_t i, int64_t number) const {
  const DovetailParameter& facts = *loaded_.parameters[i].facts;
  return number >= facts.least && number <= facts.most;
}

std::string KernelCall::DescribeRange(size_t i, const std::string& number) const {
  const DovetailParameter& facts = *loaded_.parameters[i].facts;
  return absl::StrCat(loaded_.kernel->name, "(): argument '", loaded_.names[i], "' must be from ",
                      facts.least, " to ", facts.most, ", and is ", number);
}

int32_t KernelCall::KindOfRange(size_t i) const {
  return loaded_.parameters[i].facts->size_name != 0 ? DOVETAIL_VALUE_ERROR
                                                     : DOVETAIL_OVERFLOW_ERROR;
}

std::string KernelCall::DescribeSize(size_t i, int64_t size) const {
  const DovetailParameter& facts = *loaded_.parameters[i].facts;
  const int32_t index = FindNamedSize(call_, facts.size_name);
  const std::string is = absl::StrCat(loaded_.kernel->name, "(): argument '", loaded_.names[i],
                                      "' is ", size, ", and ");
  if (index == call_.num_sizes) {
    return absl::StrCat(is, "a call has at most ", DOVETAIL_MAX_NAMED_SIZES, " named sizes");
  }
  const auto& known = call_.sizes[index];
  return absl::StrCat(is, "argument '", loaded_.names[static_cast<size_t>(known.position) - 1],
                      "' has ", facts.size_text, " = ", known.size);
}

int64_t KernelCall::nbytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < count_; ++i) bytes += BytesOf(tensor(i)->tensor);
  return bytes;
}

const DovetailBorrowed* KernelCall::main_tensor() const {
  for (size_t i = 0; i < count_; ++i) {
    if (!IsHost(tensor(i)->tensor.device)) return tensor(i);
  }
  return count_ > 0 ? tensor(0) : nullptr;
}

bool KernelCall::Run(DLManagedTensorVersioned** results, KernelFailure* failure) {
  if (Invoke(results, failure)) return true;
  failure->message = absl::StrCat(loaded_.kernel->name, "(): ", failure->message);
  return false;
}

bool KernelCall::Invoke(DLManagedTensorVersioned** results, KernelFailure* failure) {
  const std::vector<int>& places = loaded_.places;
  if (places.size() == loaded_.parameters.size()) [[likely]] {  // no Stream
    return loaded_.kernel->invoke(values_, results, failure) == 0;
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
  return loaded_.kernel->invoke(all.data(), results, failure) == 0;
}

}  // namespace dovetail::python
