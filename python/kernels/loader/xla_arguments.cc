#include "dovetail/python/kernels/loader/xla_arguments.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/kernels/kernel_facts.h"
#include "dovetail/python/kernels/loader/xla_kernel.h"

namespace dovetail::python {
namespace {

using internal_kernels::Has;
using internal_kernels::IsTensor;
using internal_kernels::kXlaArray;
using internal_kernels::kXlaScalar;
using internal_kernels::kXlaString;
using internal_kernels::XlaApi;
using internal_kernels::XlaArray;
using internal_kernels::XlaAttributes;
using internal_kernels::XlaBytes;
using internal_kernels::XlaDeviceOrdinalArgs;
using internal_kernels::XlaError;
using internal_kernels::XlaErrorDestroyArgs;
using internal_kernels::XlaScalar;
using internal_kernels::XlaStreamArgs;

bool IsType(int32_t code, DType dtype) {
  return ToDType(internal_kernels::XlaTypeOf(code)) == dtype;
}

template <typename T>
T Read(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

// A number of JAX's, of a type that it gives to Python's numbers. False for others.
template <typename T>
bool ReadNumber(int32_t code, const void* at, T* number) {
  if (IsType(code, kFloat64)) {
    *number = static_cast<T>(Read<double>(at));
  } else if (IsType(code, kFloat32)) {
    *number = static_cast<T>(Read<float>(at));
  } else if (IsType(code, kInt32)) {
    *number = static_cast<T>(Read<int32_t>(at));
  } else if (IsType(code, kInt64) || IsType(code, kUInt64)) {  // in the range of both
    *number = static_cast<T>(Read<int64_t>(at));
  } else if (IsType(code, kUInt32)) {
    *number = static_cast<T>(Read<uint32_t>(at));
  } else if (IsType(code, kBool)) {
    *number = static_cast<T>(Read<uint8_t>(at) != 0);
  } else {
    return false;
  }
  return true;
}

}  // namespace

const internal_fit::ArgumentClass& JaxArray() {
  static const auto* const argument = new internal_fit::ArgumentClass{
      "jax.Array", internal_fit::Manner::kOther, /*is_immutable=*/true};
  return *argument;
}

bool XlaArguments::SayBroken(KernelFailure* failure) const {
  return failure->Say(
      DOVETAIL_TYPE_ERROR,
      absl::StrCat(call_.loaded().kernel->name, "(): XLA passes other arguments than JAX traced"));
}

const XlaBuffer* XlaArguments::Next(const XlaBuffers& all, int64_t* at,
                                    KernelFailure* failure) const {
  if (*at < all.size) return all.all[(*at)++];
  SayBroken(failure);
  return nullptr;
}

bool XlaArguments::FindDevice(KernelFailure* failure) {
  if (device_.device_type == kDLCPU) return true;
  const XlaApi& api = *frame_.api;
  XlaStreamArgs stream = {sizeof(XlaStreamArgs), nullptr, frame_.context, nullptr};
  XlaDeviceOrdinalArgs ordinal = {sizeof(XlaDeviceOrdinalArgs), nullptr, frame_.context, 0};
  const bool has_ordinal = api.struct_size >= offsetof(XlaApi, get_device_ordinal) + sizeof(void*);
  XlaError* error = api.get_stream(&stream);
  if (error == nullptr && has_ordinal) error = api.get_device_ordinal(&ordinal);
  if (error != nullptr) {
    XlaErrorDestroyArgs destroyed = {sizeof(XlaErrorDestroyArgs), nullptr, error};
    api.error_destroy(&destroyed);
  }
  if (!has_ordinal || error != nullptr) {
    return failure->Say(DOVETAIL_RUNTIME_ERROR,
                        absl::StrCat(call_.loaded().kernel->name, "(): XLA tells no stream"));
  }
  stream_ = stream.stream;
  device_.device_id = ordinal.ordinal;
  return true;
}

bool XlaArguments::Load(KernelFailure* failure) {
  const XlaAttributes& attributes = frame_.attributes;
  if (attributes.size > 0 && attributes.types[0] == kXlaArray &&
      attributes.names[0]->data[0] == kOperandsAttribute[0]) {
    const auto& array = *static_cast<const XlaArray*>(attributes.all[0]);
    if (array.size != call_.loaded().named.size() || !IsType(array.dtype, kInt64)) {
      return SayBroken(failure);
    }
    operands_ = static_cast<const int64_t*>(array.data);
    for (size_t i = 0; i < array.size; ++i) {
      if (!CheckCount(i)) return SayBroken(failure);
    }
  }
  return FindDevice(failure) && LoadValues(failure) && LoadTensors(failure) &&
         call_.CheckOverlap(failure);
}

int64_t XlaArguments::CountOperands(size_t i) const {
  const DovetailParameter& parameter = *call_.loaded().named[i];
  if (operands_ != nullptr) return operands_[i];
  return IsTensor(parameter) && !Has(parameter, DOVETAIL_PARAMETER_OUT) ? 1 : 0;
}

// Of a program that was compiled for this library, or for another one of its name.
bool XlaArguments::CheckCount(size_t i) const {
  const DovetailParameter& parameter = *call_.loaded().named[i];
  const int64_t count = operands_[i];
  if (count < 0) return count == -1 && Has(parameter, DOVETAIL_PARAMETER_OPTIONAL);
  if (!IsTensor(parameter)) return count <= 1;
  if (Has(parameter, DOVETAIL_PARAMETER_OUT)) return count == 0;
  return Has(parameter, DOVETAIL_PARAMETER_LIST) ? count <= frame_.arguments.size : count == 1;
}

// Before the tensors, as in the plain call: the first error is the same.
bool XlaArguments::LoadValues(KernelFailure* failure) {
  const LoadedKernel& loaded = call_.loaded();
  int64_t operand = 0;
  for (size_t i = 0; i < loaded.named.size(); ++i) {
    const int64_t count = CountOperands(i);
    if (!IsTensor(*loaded.named[i])) {
      call_.value(i).is_there = count >= 0;
      if (count == 1) {
        const XlaBuffer* const number = Next(frame_.arguments, &operand, failure);
        if (number == nullptr || !LoadOperand(i, *number, failure)) return false;
        continue;
      }
      if (count == 0 && !LoadValue(i, failure)) return false;
    }
    operand += count > 0 ? count : 0;
  }
  return true;
}

bool XlaArguments::LoadTensors(KernelFailure* failure) {
  const LoadedKernel& loaded = call_.loaded();
  int64_t operand = 0, result = 0;
  for (size_t i = 0; i < loaded.named.size(); ++i) {
    const DovetailParameter& parameter = *loaded.named[i];
    const int64_t count = CountOperands(i);
    if (!IsTensor(parameter)) {
      operand += count > 0 ? count : 0;
      continue;
    }
    DovetailArgument& value = call_.value(i);
    value.is_there = count >= 0;
    if (!value.is_there) continue;
    call_.Name(i);
    if (Has(parameter, DOVETAIL_PARAMETER_LIST)) {
      const bool done = call_.LoadList(
          i, static_cast<size_t>(count), [&](size_t, const DovetailBorrowed** tensor) {
            const XlaBuffer* const buffer = Next(frame_.arguments, &operand, failure);
            return buffer != nullptr && LoadBuffer(i, *buffer, tensor, failure);
          });
      if (!done) return false;
      continue;
    }
    const XlaBuffer* buffer = nullptr;
    if (!Has(parameter, DOVETAIL_PARAMETER_OUT)) {
      buffer = Next(frame_.arguments, &operand, failure);
      if (buffer == nullptr) return false;
    }
    if (internal_kernels::IsWritten(parameter)) {
      const XlaBuffer* const written = Next(frame_.results, &result, failure);
      if (written == nullptr) return false;
      if (buffer != nullptr && !FillInOut(i, *buffer, *written, failure)) return false;
      buffer = written;
    }
    if (!LoadBuffer(i, *buffer, &value.value.tensor, failure)) return false;
  }
  return operand == frame_.arguments.size && result == frame_.results.size ? true
                                                                           : SayBroken(failure);
}

// XLA gives both one memory, as JAX asks it to.
bool XlaArguments::FillInOut(size_t i, const XlaBuffer& from, const XlaBuffer& to,
                             KernelFailure* failure) {
  if (from.data == to.data || std::find(to.dims, to.dims + to.rank, 0) != to.dims + to.rank) {
    return true;
  }
  return failure->Say(DOVETAIL_RUNTIME_ERROR,
                      absl::StrCat(call_.loaded().kernel->name, "(): argument '",
                                   call_.loaded().names[i], "' has no memory to be changed in"));
}

bool XlaArguments::LoadBuffer(size_t i, const XlaBuffer& buffer, const DovetailBorrowed** tensor,
                              KernelFailure* failure) {
  DovetailBorrowed* const borrowed = call_.AddTensor();
  *tensor = borrowed;
  const DLTensor lent = XlaTensor(buffer, device_);
  return device_.device_type == kDLCPU
             ? call_.LoadRowMajor(i, lent, JaxArray(), borrowed, failure)
             : call_.LoadLent(i, lent, stream_, JaxArray(), borrowed, failure);
}

// A number that JAX traced, which is a tensor without dimensions.
bool XlaArguments::LoadOperand(size_t i, const XlaBuffer& operand, KernelFailure* failure) {
  const LoadedKernel& loaded = call_.loaded();
  if (device_.device_type != kDLCPU) {
    return failure->Say(DOVETAIL_TYPE_ERROR,
                        absl::StrCat(loaded.kernel->name, "(): argument '", loaded.names[i],
                                     "' is a number on a GPU. Pass one that JAX does not trace"));
  }
  DovetailArgument& value = call_.value(i);
  switch (loaded.named[i]->kind) {
    case DOVETAIL_KIND_FLOAT:
      return ReadNumber(operand.dtype, operand.data, &value.value.number) || SayBroken(failure);
    case DOVETAIL_KIND_INT:
      if (IsType(operand.dtype, kUInt64) && Read<int64_t>(operand.data) < 0) {
        return call_.SayRange(i, absl::StrCat(Read<uint64_t>(operand.data)), failure);
      }
      return (ReadNumber(operand.dtype, operand.data, &value.value.integer) ||
              SayBroken(failure)) &&
             call_.CheckInt(i, value.value.integer, failure);
    default:
      return ReadNumber(operand.dtype, operand.data, &value.value.integer) || SayBroken(failure);
  }
}

bool XlaArguments::LoadValue(size_t i, KernelFailure* failure) {
  const std::string_view name = call_.loaded().names[i];
  const XlaAttributes& attributes = frame_.attributes;
  int64_t at = 0;
  while (at < attributes.size &&
         std::string_view(attributes.names[at]->data, attributes.names[at]->size) != name) {
    ++at;
  }
  if (at == attributes.size) return SayBroken(failure);
  const DovetailParameter& parameter = *call_.loaded().named[i];
  DovetailArgument& value = call_.value(i);
  const int32_t type = attributes.types[at];
  const void* const attribute = attributes.all[at];
  if (parameter.kind == DOVETAIL_KIND_STRING) {
    if (type != kXlaString) return SayBroken(failure);
    const auto& text = *static_cast<const XlaBytes*>(attribute);
    call_.AddText(text.data, text.size, &value);
    return true;
  }
  const bool is_float = parameter.kind == DOVETAIL_KIND_FLOAT;
  if (Has(parameter, DOVETAIL_PARAMETER_LIST)) {
    if (type != kXlaArray) return SayBroken(failure);
    const auto& array = *static_cast<const XlaArray*>(attribute);
    if (!IsType(array.dtype, is_float ? kFloat64 : kInt64)) return SayBroken(failure);
    value.value.integers = static_cast<const int64_t*>(array.data);
    if (is_float) value.value.numbers = static_cast<const double*>(array.data);
    value.count = static_cast<int64_t>(array.size);
    return true;
  }
  if (is_float && type == kXlaArray) {  // of −0.0
    const auto& array = *static_cast<const XlaArray*>(attribute);
    return (array.size == 1 && ReadNumber(array.dtype, array.data, &value.value.number)) ||
           SayBroken(failure);
  }
  if (type != kXlaScalar) return SayBroken(failure);
  const auto& scalar = *static_cast<const XlaScalar*>(attribute);
  if (is_float) {
    return ReadNumber(scalar.dtype, scalar.value, &value.value.number) || SayBroken(failure);
  }
  if (!ReadNumber(scalar.dtype, scalar.value, &value.value.integer)) return SayBroken(failure);
  return parameter.kind != DOVETAIL_KIND_INT || call_.CheckInt(i, value.value.integer, failure);
}

}  // namespace dovetail::python
