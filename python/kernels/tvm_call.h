// A kernel called by tvm-ffi: from any language and without the package, whose host.h is then
// missing. Loops run on one thread; what is written is given by the caller, and nothing is copied.
//
//   tvm_ffi.load_module("kernels.so")["scale_add"](x, y, 2.0, out)
//
// Arguments are given by position. Those that have defaults may be left out at the end. What a
// kernel writes is not returned; an OwnedTensor is, and several are an array. Errors have the texts
// and the kinds of the package's own call.

#ifndef DOVETAIL_PYTHON_KERNELS_TVM_CALL_H_
#define DOVETAIL_PYTHON_KERNELS_TVM_CALL_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "dovetail/python/fit/complaint.h"
#include "dovetail/python/fit/fill_borrowed.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/kernels/failure.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/kernel_call.h"
#include "dovetail/python/kernels/kernel_facts.h"
#include "dovetail/python/kernels/parameter_text.h"
#include "dovetail/python/kernels/tvm_ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

class TvmCall {
 public:
  // TVMFFISafeCallType's: 0, or -1 with an error for tvm-ffi. Throws nothing.
  [[gnu::cold, gnu::noinline]] static int Run(const KernelFacts& facts, const TvmAny* arguments,
                                              int32_t count, TvmAny* result) noexcept {
    KernelFailure failure;
    bool done = false;
    try {
      TvmCall call(facts, &failure);
      done = call.Load(arguments, count) && call.Finish(result);
    } catch (...) {
      Report(&failure);
    }
    return done ? 0 : Set(failure);
  }

  // Gives the error to tvm-ffi. -1.
  [[gnu::cold, gnu::noinline]] static int Set(const KernelFailure& failure) {
    const TvmFunctions& tvm = FindTvmFunctions();
    if (tvm.set_error != nullptr) tvm.set_error(KindName(failure.kind), failure.message.c_str());
    return -1;
  }

 private:
  TvmCall(const KernelFacts& facts, KernelFailure* failure)
      : facts_(facts), failure_(failure), call_(facts, &room_) {}

  static const char* KindName(int32_t kind) {
    constexpr const char* kNames[] = {"RuntimeError",  "RuntimeError", "ValueError", "IndexError",
                                      "OverflowError", "MemoryError",  "TypeError"};
    constexpr int32_t kCount = sizeof(kNames) / sizeof(kNames[0]);
    return kNames[kind >= 0 && kind < kCount ? kind : 0];
  }
  // As Python calls the type.
  [[gnu::cold, gnu::noinline]] static const char* TypeName(int32_t type) {
    switch (type) {
      case kTvmInt:
      case kTvmBigInt:
        return "an int";
      case kTvmBool:
        return "a bool";
      case kTvmFloat:
        return "a float";
      case kTvmRawString:
      case kTvmSmallString:
      case kTvmString:
        return "a str";
      case kTvmDLTensor:
      case kTvmTensor:
        return "a tvm_ffi.Tensor";
      case kTvmArray:
      case kTvmList:
        return "a list";
      case kTvmShape:
        return "a tvm_ffi.Shape";
      case kTvmNone:
        return "None";
      default:
        return "another object of tvm-ffi";
    }
  }

  [[gnu::cold, gnu::noinline]] bool Refuse(const std::string& what) {
    return failure_->Say(DOVETAIL_TYPE_ERROR, Words(facts_.kernel->name, "() ", what));
  }
  [[gnu::cold, gnu::noinline]] bool RefuseKind(size_t i, const char* wanted, const TvmAny& is) {
    return call_.SayKind(i, wanted, TypeName(is.type), failure_);
  }

  // Tensors come last, as in the package's own call: the first error is the same.
  [[gnu::cold]] bool Load(const TvmAny* arguments, int32_t count) {
    const size_t known = facts_.named.size(), given = static_cast<size_t>(count < 0 ? 0 : count);
    if (given > known) {
      return Refuse(Words("takes at most ", static_cast<int64_t>(known),
                          " positional arguments, and got ", count));
    }
    for (size_t i = given; i < known; ++i) {
      const DovetailParameter& parameter = *facts_.named[i];
      if (parameter.default_text == nullptr && !Has(parameter, DOVETAIL_PARAMETER_OUT)) {
        return Refuse(Words("missing a required argument: '", facts_.names[i], "'"));
      }
    }
    for (size_t i = 0; i < known; ++i) {
      if (IsTensor(*facts_.named[i])) continue;
      if (i < given ? !LoadValue(i, arguments[i]) : !LoadDefault(i)) return false;
    }
    for (size_t i = 0; i < known; ++i) {
      if (!IsTensor(*facts_.named[i])) continue;
      if (!LoadTensors(i, i < given ? &arguments[i] : nullptr)) return false;
    }
    return call_.CheckDevices(failure_) && call_.CheckOverlap(failure_);
  }

  [[gnu::cold, gnu::noinline]] bool LoadDefault(size_t i) {
    const DovetailParameter& parameter = *facts_.named[i];
    DovetailArgument& value = call_.value(i);
    const char* const text = parameter.default_text;
    value.is_there = !AreEqual(text, "None");
    if (!value.is_there) return true;
    switch (parameter.kind) {
      case DOVETAIL_KIND_FLOAT:
        value.value.number = ParseNumber(text);
        return true;
      case DOVETAIL_KIND_INT:
        value.value.integer = std::strtoll(text, nullptr, 10);
        return call_.CheckInt(i, value.value.integer, failure_);
      case DOVETAIL_KIND_BOOL:
        value.value.integer = AreEqual(text, "True");
        return true;
      default:  // 'sum', in quotation marks
        return LoadText(text + 1, std::strlen(text) - 2, &value);
    }
  }

  // As the compiler checked it (IsNumber).
  [[gnu::cold]] static double ParseNumber(const char* text) {
#ifdef __cpp_lib_to_chars
    double number = 0;
    (void)std::from_chars(text, text + std::strlen(text), number);
    return number;
#else  // this one asks the process's locale for the decimal point
    return std::strtod(text, nullptr);
#endif
  }

  bool LoadText(const char* text, size_t size, DovetailArgument* value) {
    call_.AddText(text, size, value);
    return true;
  }

  [[gnu::cold]] bool LoadValue(size_t i, const TvmAny& any) {
    const DovetailParameter& parameter = *facts_.named[i];
    DovetailArgument& value = call_.value(i);
    value.is_there = 1;
    if (any.type == kTvmNone && Has(parameter, DOVETAIL_PARAMETER_OPTIONAL)) {
      value.is_there = 0;
      return true;
    }
    const bool is_list = Has(parameter, DOVETAIL_PARAMETER_LIST);
    switch (parameter.kind) {
      case DOVETAIL_KIND_FLOAT:
        return is_list ? LoadNumbers<double>(i, any, &value)
                       : LoadNumber(i, any, "a float", &value.value.number);
      case DOVETAIL_KIND_INT:
        return is_list ? LoadNumbers<int64_t>(i, any, &value)
                       : LoadNumber(i, any, "an int", &value.value.integer);
      case DOVETAIL_KIND_BOOL:
        value.value.integer = any.integer != 0;
        return any.type == kTvmBool || RefuseKind(i, "a bool", any);
      default:
        return LoadString(i, any, &value);
    }
  }

  bool LoadNumber(size_t i, const TvmAny& any, const char* wanted, double* number) {
    if (any.type == kTvmFloat) {
      *number = any.number;
    } else if (any.type == kTvmInt || any.type == kTvmBool) {
      *number = static_cast<double>(any.integer);
    } else {
      return RefuseKind(i, wanted, any);
    }
    return true;
  }
  bool LoadNumber(size_t i, const TvmAny& any, const char* wanted, int64_t* number) {
    if (any.type == kTvmBigInt) return call_.SayRange(i, "larger", failure_);
    if (any.type != kTvmInt && any.type != kTvmBool) return RefuseKind(i, wanted, any);
    *number = any.integer;
    return call_.CheckInt(i, *number, failure_);
  }

  static void SetList(const double* numbers, DovetailArgument* value) {
    value->value.numbers = numbers;
  }
  static void SetList(const int64_t* integers, DovetailArgument* value) {
    value->value.integers = integers;
  }
  template <typename T>
  bool LoadNumbers(size_t i, const TvmAny& any, DovetailArgument* value) {
    constexpr bool kAreInts = std::is_same_v<T, int64_t>;
    constexpr const char* kWanted = kAreInts ? "a list of ints" : "a list of floats";
    const bool is_shape = any.type == kTvmShape;
    if (!is_shape && any.type != kTvmArray && any.type != kTvmList) {
      return RefuseKind(i, kWanted, any);
    }
    value->count =
        is_shape ? static_cast<int64_t>(Behind<TvmShape>(any).size) : Behind<TvmSequence>(any).size;
    T* const numbers = call_.AddList<T>(static_cast<size_t>(value->count));
    SetList(numbers, value);
    for (int64_t k = 0; k < value->count; ++k) {
      TvmAny item = {kTvmInt, 0, {}};
      if (is_shape) {
        item.integer = Behind<TvmShape>(any).data[k];
      } else {
        item = Behind<TvmSequence>(any).data[k];
      }
      if (LoadNumber(i, item, kWanted, &numbers[k])) continue;
      if (failure_->kind != DOVETAIL_TYPE_ERROR) return false;
      return failure_->Say(
          DOVETAIL_TYPE_ERROR,
          Words(facts_.kernel->name, "(): argument '", facts_.names[i], "' must be ", kWanted,
                ", and element ", k + 1, " is ", TypeName(item.type)));
    }
    return true;
  }

  [[gnu::cold]] bool LoadString(size_t i, const TvmAny& any, DovetailArgument* value) {
    if (any.type == kTvmRawString && any.pointer != nullptr) {
      const auto* const text = static_cast<const char*>(any.pointer);
      return LoadText(text, std::strlen(text), value);
    }
    if (any.type == kTvmSmallString) return LoadText(any.letters, any.small_size, value);
    if (any.type != kTvmString) return RefuseKind(i, "a str", any);
    return LoadText(Behind<TvmBytes>(any).data, Behind<TvmBytes>(any).size, value);
  }

  // `any` is nullptr for what was left out.
  [[gnu::cold]] bool LoadTensors(size_t i, const TvmAny* any) {
    const DovetailParameter& parameter = *facts_.named[i];
    DovetailArgument& value = call_.value(i);
    value.is_there = any != nullptr && any->type != kTvmNone;
    if (!value.is_there) return AcceptNone(i);
    call_.Name(i);
    if (!Has(parameter, DOVETAIL_PARAMETER_LIST)) {
      return LoadTensor(i, *any, &value.value.tensor);
    }
    if (any->type != kTvmArray && any->type != kTvmList) {
      return RefuseKind(i, "a list or tuple of tensors", *any);
    }
    const auto& items = Behind<TvmSequence>(*any);
    return call_.LoadList(i, static_cast<size_t>(items.size),
                          [&](size_t k, const DovetailBorrowed** tensor) {
                            return LoadTensor(i, items.data[k], tensor);
                          });
  }

  [[gnu::cold, gnu::noinline]] bool AcceptNone(size_t i) {
    const DovetailParameter& parameter = *facts_.named[i];
    if (Has(parameter, DOVETAIL_PARAMETER_OPTIONAL)) return true;
    if (Has(parameter, DOVETAIL_PARAMETER_OUT)) {
      return failure_->Say(
          DOVETAIL_TYPE_ERROR,
          Words(facts_.kernel->name, "(): argument '", facts_.names[i],
                "' must be a tensor, which the function writes: tvm-ffi makes none"));
    }
    const bool is_list = Has(parameter, DOVETAIL_PARAMETER_LIST);
    return call_.SayKind(i, is_list ? "a list or tuple of tensors" : "a tensor", "None", failure_);
  }

  [[gnu::cold]] bool LoadTensor(size_t i, const TvmAny& any, const DovetailBorrowed** tensor) {
    const DLTensor* lent = nullptr;
    if (any.type == kTvmTensor) {
      lent = &Behind<DLTensor>(any);
    } else if (any.type == kTvmDLTensor && any.pointer != nullptr) {
      lent = static_cast<const DLTensor*>(any.pointer);
    } else {
      return RefuseKind(i, "a tensor", any);
    }
    const DovetailRequirements& wanted = *facts_.named[i]->wanted;
    DovetailBorrowed* const borrowed = call_.AddTensor();
    *tensor = borrowed;
    ++call_.call()->position;
    if (!internal_fit::FillBorrowed(*lent, 0, borrowed)) {
      return failure_->Say(DOVETAIL_TYPE_ERROR,
                           internal_fit::ArgumentPrefix(*call_.call()) +
                               " is of a type or a shape that kernels do not take");
    }
    borrowed->object = nullptr;
    if (borrowed->tensor.device.device_type != kDLCPU) SetStream(borrowed);
    const auto misfit = internal_fit::FindMismatch(*borrowed, wanted, call_.call());
    return misfit.fits() || failure_->Say(KindOfMisfit(misfit.want),
                                          internal_fit::Complain(
                                              misfit, borrowed->tensor, wanted, *call_.call(),
                                              {"tvm_ffi.Tensor", internal_fit::Manner::kUnknown}));
  }

  static void SetStream(DovetailBorrowed* borrowed) {
    const TvmFunctions& tvm = FindTvmFunctions();
    const DLDevice device = borrowed->tensor.device;
    if (tvm.get_stream == nullptr) return;
    borrowed->stream = tvm.get_stream(device.device_type, device.device_id);
  }

  [[gnu::cold]] bool Finish(TvmAny* result) {
    *result = {kTvmNone, 0, {}};
    const auto count = static_cast<size_t>(facts_.kernel->num_results);
    if (count == 0) return call_.Run(nullptr, failure_);
    std::vector<DLManagedTensorVersioned*> made(count, nullptr);
    std::vector<TvmAny> objects;
    objects.reserve(count);
    bool done = call_.Run(made.data(), failure_);
    for (DLManagedTensorVersioned* tensor : made) {
      done = done && GiveTensor(&tensor, &objects);
      if (!done && tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
    }
    if (done && facts_.kernel->returns_a_tuple == 0) {
      *result = objects[0];
      return true;
    }
    done = done && MakeArray(&objects, result);
    for (const TvmAny& object : objects) (void)FindTvmFunctions().release(object.object);
    return done;
  }

  // Takes the tensor.
  [[gnu::cold, gnu::noinline]] bool GiveTensor(DLManagedTensorVersioned** tensor,
                                               std::vector<TvmAny>* objects) {
    const TvmFunctions& tvm = FindTvmFunctions();
    void* object = nullptr;
    if (*tensor == nullptr) {
      return failure_->Say(DOVETAIL_RUNTIME_ERROR,
                           Words(facts_.kernel->name, "() returned an empty OwnedTensor"));
    }
    if (tvm.tensor_from_dlpack == nullptr || tvm.release == nullptr ||
        tvm.tensor_from_dlpack(*tensor, 0, 0, &object) != 0) {
      return failure_->Say(DOVETAIL_RUNTIME_ERROR,
                           Words(facts_.kernel->name, "() returned a tensor that tvm-ffi refuses"));
    }
    *tensor = nullptr;
    TvmAny any = {kTvmTensor, 0, {}};
    any.object = static_cast<TvmObject*>(object);
    objects->push_back(any);
    return true;
  }

  [[gnu::cold, gnu::noinline]] bool MakeArray(std::vector<TvmAny>* objects, TvmAny* array) {
    const TvmFunctions& tvm = FindTvmFunctions();
    const TvmBytes name = {"ffi.Array", 9};
    void* function = nullptr;
    if (tvm.get_function == nullptr || tvm.call == nullptr ||
        tvm.get_function(&name, &function) != 0 || function == nullptr) {
      return failure_->Say(DOVETAIL_RUNTIME_ERROR, "tvm-ffi has no arrays");
    }
    const bool done =
        tvm.call(function, objects->data(), static_cast<int32_t>(objects->size()), array) == 0;
    (void)tvm.release(function);
    return done || failure_->Say(DOVETAIL_RUNTIME_ERROR, "tvm-ffi made no array");
  }

  const KernelFacts& facts_;
  KernelFailure* failure_;
  KernelCall call_;
  CallRoom room_;
};

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_TVM_CALL_H_
