#include "dovetail/python/kernels/loader/torch_arguments.h"

#include <Python.h>

#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/fit/result_sizes.h"

namespace dovetail::python {
namespace {

template <typename T>
T* As(TorchValue value) {
  return std::bit_cast<T*>(value);
}

const internal_fit::ArgumentClass& TorchTensor() {
  static const auto* const argument =
      new internal_fit::ArgumentClass{"torch.Tensor", internal_fit::Manner::kTorch};
  return *argument;
}

}  // namespace

TorchArguments::TorchArguments(const LoadedKernel& loaded, const TorchValue* stack,
                               bool is_functional)
    : stack_(stack), is_functional_(is_functional), call_(loaded) {}

TorchArguments::~TorchArguments() {
  call_.ReleaseCopies();
  for (TorchHandle handle : owned_) (void)functions_.delete_tensor_object(handle);
  for (TorchHandle handle : results_) (void)functions_.delete_tensor_object(handle);
  for (TorchString* text : strings_) (void)torch_.delete_string(text);
}

bool TorchArguments::Load(KernelFailure* failure) {
  const auto& parameters = call_.loaded().parameters;
  bool done = true;
  // (To the end in any case: the stack's values are to be released.)
  for (size_t i = 0; i < parameters.size(); ++i) {
    call_.value(i).is_there = 0;
    if (is_functional_ && parameters[i].is(DOVETAIL_PARAMETER_OUT)) continue;
    done = LoadOne(i, done ? failure : nullptr) && done;
  }
  done = done && call_.CheckDevices(failure);
  for (size_t i = 0; done && is_functional_ && i < parameters.size(); ++i) {
    if (parameters[i].is(DOVETAIL_PARAMETER_OUT)) done = MakeOut(i, failure);
  }
  return done && call_.CheckOverlap(failure);
}

TorchValue TorchArguments::Unwrap(TorchValue value) {
  auto* const boxed = As<TorchValue>(value);
  const TorchValue inner = *boxed;
  (void)torch_.delete_value(boxed);
  return inner;
}

// `failure` is nullptr after the first failure: the value is released, and nothing else.
bool TorchArguments::LoadOne(size_t i, KernelFailure* failure) {
  const LoadedParameter& parameter = call_.loaded().parameters[i];
  TorchValue value = stack_[next_++];
  if (parameter.is(DOVETAIL_PARAMETER_OPTIONAL)) {
    if (value == 0) return true;
    value = Unwrap(value);
  }
  call_.value(i).is_there = 1;
  call_.Name(i);
  if (!parameter.is_tensor()) return LoadValue(i, value, failure);
  if (parameter.is(DOVETAIL_PARAMETER_LIST)) return LoadTensors(i, As<TorchList>(value), failure);
  const TorchHandle handle = Own(As<AtenTensor>(value));
  if (!is_functional_ && parameter.is(DOVETAIL_PARAMETER_OUT | DOVETAIL_PARAMETER_INOUT)) {
    written_.push_back(handle);
  }
  return failure != nullptr && LoadTensor(i, handle, &call_.value(i).value.tensor, failure);
}

template <typename T>
void TorchArguments::LoadNumbers(TorchList* list, DovetailArgument* value) {
  size_t size = 0;
  (void)torch_.list_size(list, &size);
  T* const numbers = call_.AddList<T>(size);
  for (size_t k = 0; k < size; ++k) {
    TorchValue number = 0;
    (void)torch_.list_get_item(list, k, &number);
    numbers[k] = std::bit_cast<T>(number);
  }
  (void)torch_.delete_list(list);
  value->count = static_cast<int64_t>(size);
  if constexpr (std::is_same_v<T, double>) {
    value->value.numbers = numbers;
  } else {
    value->value.integers = numbers;
  }
}

bool TorchArguments::LoadValue(size_t i, TorchValue value, KernelFailure* failure) {
  const LoadedParameter& parameter = call_.loaded().parameters[i];
  const DovetailParameter& facts = *parameter.facts;
  DovetailArgument& argument = call_.value(i);
  if (facts.kind == DOVETAIL_KIND_STRING) {
    auto* const text = As<TorchString>(value);
    strings_.push_back(text);
    size_t length = 0;
    (void)torch_.string_length(text, &length);
    (void)torch_.string_c_str(text, &argument.value.text);
    argument.count = static_cast<int64_t>(length);
    return true;
  }
  if (parameter.is(DOVETAIL_PARAMETER_LIST)) {
    if (facts.kind == DOVETAIL_KIND_FLOAT) {
      LoadNumbers<double>(As<TorchList>(value), &argument);
    } else {
      LoadNumbers<int64_t>(As<TorchList>(value), &argument);
    }
    return true;
  }
  if (facts.kind == DOVETAIL_KIND_FLOAT) {
    argument.value.number = std::bit_cast<double>(value);
    return true;
  }
  argument.value.integer =
      facts.kind == DOVETAIL_KIND_BOOL ? int64_t{(value & 1) != 0} : static_cast<int64_t>(value);
  if (facts.kind == DOVETAIL_KIND_BOOL || failure == nullptr) return true;
  return call_.CheckInt(i, argument.value.integer, failure);
}

bool TorchArguments::LoadTensors(size_t i, TorchList* list, KernelFailure* failure) {
  DovetailArgument& argument = call_.value(i);
  size_t size = 0;
  (void)torch_.list_size(list, &size);
  auto** const tensors = call_.AddList<const DovetailBorrowed*>(size);
  argument.value.tensors = tensors;
  argument.count = 0;
  bool done = failure != nullptr;
  for (size_t k = 0; k < size; ++k) {
    TorchValue item = 0;
    (void)torch_.list_get_item(list, k, &item);
    const TorchHandle handle = Own(As<AtenTensor>(item));
    if (!done) continue;
    call_.Name(i);
    call_.call()->element = static_cast<int32_t>(k + 1);
    done = LoadTensor(i, handle, &tensors[k], failure);
    if (done) ++argument.count;
  }
  call_.call()->element = 0;
  (void)torch_.delete_list(list);
  return done;
}

bool TorchArguments::LoadTensor(size_t i, TorchHandle handle, const DovetailBorrowed** tensor,
                                KernelFailure* failure) {
  const LoadedParameter& parameter = call_.loaded().parameters[i];
  DovetailBorrowed* const borrowed = call_.AddTensor();
  *tensor = borrowed;
  if (is_functional_ && parameter.is(DOVETAIL_PARAMETER_INOUT)) {
    TorchHandle copy = nullptr;
    const bool records = torch_.grad_mode_is_enabled();  // the copy itself has no gradients
    torch_.grad_mode_set_enabled(false);
    const int32_t failed = torch_.clone(handle, &copy);
    torch_.grad_mode_set_enabled(records);
    if (failed != 0) return failure->Say(DOVETAIL_RUNTIME_ERROR, "PyTorch can't copy");
    results_.push_back(copy);
    handle = copy;
  }
  DLTensor lent{};
  int64_t ndim = 0;
  int32_t type = 0, device_type = 0, device_index = -1;
  if (functions_.get_dim(handle, &ndim) != 0 || functions_.get_sizes(handle, &lent.shape) != 0 ||
      functions_.get_strides(handle, &lent.strides) != 0 ||
      functions_.get_dtype(handle, &type) != 0 ||
      functions_.get_data_ptr(handle, &lent.data) != 0 ||
      torch_.get_device_type(handle, &device_type) != 0 ||
      (device_type != torch_.cpu && torch_.get_device_index(handle, &device_index) != 0)) {
    return failure->Say(DOVETAIL_RUNTIME_ERROR,
                        absl::StrCat(ArgumentPrefix(*call_.call()), " has no memory"));
  }
  const bool is_cpu = device_type == torch_.cpu;
  if (device_type_ < 0) {
    device_type_ = device_type;
    device_index_ = device_index;
  }
  lent.ndim = static_cast<int32_t>(ndim);
  lent.dtype = torch_.TypeOf(type);
  lent.device = {is_cpu                         ? kDLCPU
                 : call_.loaded().is_hip.load() ? kDLROCM
                                                : kDLCUDA,
                 is_cpu ? 0 : device_index};
  void* stream = nullptr;
  if (!is_cpu && torch_.get_current_cuda_stream != nullptr) {
    (void)torch_.get_current_cuda_stream(device_index, &stream);
  }
  return call_.LoadLent(i, lent, stream, TorchTensor(), borrowed, failure);
}

bool TorchArguments::MakeOut(size_t i, KernelFailure* failure) {
  const DovetailRequirements& wanted = *call_.loaded().parameters[i].facts->wanted;
  call_.Name(i);
  internal_fit::ResultSizes sizes;
  const std::string missing = FindResultSizes(wanted, *call_.call(), &sizes);
  if (!missing.empty()) {
    return failure->Say(DOVETAIL_VALUE_ERROR, internal_fit::ResultRefusal(*call_.call(), missing));
  }
  int64_t strides[DOVETAIL_MAX_NDIM];
  int64_t stride = 1;
  for (int32_t k = sizes.ndim; k-- > 0;) {
    strides[k] = stride;
    stride *= sizes.all[k] > 0 ? sizes.all[k] : 1;
  }
  const bool is_host = wanted.device_type == DOVETAIL_HOST_MEMORY || wanted.device_type == kDLCPU ||
                       device_type_ < 0;
  TorchHandle made = nullptr;
  if (torch_.empty_strided(
          sizes.ndim, sizes.all, strides, torch_.NumberOf(TypeToPass(wanted, *call_.call())),
          is_host ? torch_.cpu : device_type_, is_host ? -1 : device_index_, &made) != 0) {
    return failure->Say(DOVETAIL_MEMORY_ERROR,
                        absl::StrCat(ArgumentPrefix(*call_.call()),
                                     " can't be made: PyTorch has no memory for its sizes"));
  }
  results_.push_back(made);
  call_.value(i).is_there = 1;
  call_.Name(i);
  return LoadTensor(i, made, &call_.value(i).value.tensor, failure);
}

void TorchArguments::Return(TorchValue* stack) {
  if (!is_functional_) return;
  // In the order of the parameters: Outs were made after InOuts were copied.
  const auto& parameters = call_.loaded().parameters;
  size_t copies = 0, outs = 0;
  for (const LoadedParameter& parameter : parameters) {
    if (parameter.is(DOVETAIL_PARAMETER_INOUT)) ++copies;
  }
  size_t copy = 0;
  for (const LoadedParameter& parameter : parameters) {
    TorchHandle handle = nullptr;
    if (parameter.is(DOVETAIL_PARAMETER_INOUT)) {
      handle = results_[copy++];
    } else if (parameter.is(DOVETAIL_PARAMETER_OUT)) {
      handle = results_[copies + outs++];
    } else {
      continue;
    }
    *stack++ = std::bit_cast<TorchValue>(handle);
  }
  results_.clear();
}

}  // namespace dovetail::python
