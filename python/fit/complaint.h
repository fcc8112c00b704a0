// What is wrong with an argument, in words: which one, what it is, what it must be, and what to
// pass instead. C++17, without Python.
//
//   throw std::invalid_argument(Complain(misfit, borrowed, wanted, call, {"torch.Tensor", …}));

#ifndef DOVETAIL_PYTHON_FIT_COMPLAINT_H_
#define DOVETAIL_PYTHON_FIT_COMPLAINT_H_

#include <cstdint>
#include <string>

#include "dovetail/python/args/arg_abi.h"
#include "dovetail/python/borrowed.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/fit/words.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_fit {

// How users of an argument's library convert a tensor.
enum class Manner { kNumpy, kTorch, kOther, kUnknown };

struct ArgumentClass {
  std::string name;  // "torch.Tensor"
  Manner manner = Manner::kOther;
  bool is_immutable = false;  // JAX's arrays never change
};

// The name in an entry of wanted.shape, such as "n".
[[gnu::cold]] inline std::string SizeName(const DovetailRequirements& wanted, int32_t entry) {
  const char* const longer = wanted.long_names != nullptr ? wanted.long_names[entry] : nullptr;
  if (longer != nullptr && *longer != '\0') return longer;
  std::string letters;
  for (int64_t rest = -1 - NameIn(wanted.shape[entry]); rest != 0; rest >>= 8) {
    letters.push_back(static_cast<char>(rest & 0xff));
  }
  return letters;
}

// "add(): argument 2", as far as the call knows these. `call` names the argument at hand.
[[gnu::cold]] inline std::string ArgumentPrefix(const DovetailCall& call) {
  std::string prefix;
  if (call.function != nullptr) prefix = Words(call.function, "(): ");
  if (call.argument != nullptr) {
    prefix += Words("argument '", call.argument, "'");
  } else if (call.position > 0) {
    prefix += Words("argument ", call.position);
  } else {
    prefix += "the argument";
  }
  if (call.element > 0) prefix += Words(", element ", call.element);
  return prefix;
}

// "float32, float16 or bfloat16"
[[gnu::cold]] inline std::string TypeNames(const DovetailRequirements& wanted) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return TypeText(wanted.dtype);
  std::string names;
  for (int32_t i = 0; i < wanted.num_types; ++i) {
    const char* const between = i == 0 ? "" : i + 1 < wanted.num_types ? ", " : " or ";
    names += Words(between, TypeText(wanted.types[i]));
  }
  return names;
}

// Another argument of the call: "argument 2", or by its name. One that is a number has no position.
[[gnu::cold]] inline std::string OtherArgument(const DovetailCall& call, int32_t position) {
  if (position <= 0) return "the call";
  if (position == call.position && call.element > 0) return "an element before it";
  if (call.names == nullptr) return Words("argument ", position);
  return Words("argument '", call.names[position - 1], "'");
}

[[gnu::cold]] inline std::string TypeComplaint(DLDataType dtype, const DovetailRequirements& wanted,
                                               const DovetailCall& call) {
  const std::string is = Words(", and is ", TypeText(dtype));
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0 || !IsOneOf(dtype, wanted)) {
    return Words("must be ", TypeNames(wanted), is);
  }
  const int32_t others = FindNamedType(call, wanted.type_name);
  if (others == call.num_types) {
    return Words("has a named type, and a call has at most ", DOVETAIL_MAX_NAMED_TYPES, " of them");
  }
  const auto& known = call.types[others];
  return Words("must be ", TypeText(known.dtype), " as ", OtherArgument(call, known.position), is);
}

[[gnu::cold]] inline std::string DeviceWanted(int32_t type) {
  if (type == DOVETAIL_HOST_MEMORY) return "in host memory";
  return Words("on a ", DeviceTypeText(type), " device");
}

// What the caller may pass instead. Empty if unknown.
[[gnu::cold]] inline std::string Remedy(Want misfit, const DovetailRequirements& wanted,
                                        const DovetailCall& call, const ArgumentClass& argument) {
  const bool is_numpy = argument.manner == Manner::kNumpy;
  const bool is_torch = argument.manner == Manner::kTorch;
  const char* const x = call.argument != nullptr ? call.argument : "x";
  switch (misfit) {
    case Want::kDevice:
      if (argument.manner == Manner::kUnknown ||
          (wanted.device_type != DOVETAIL_HOST_MEMORY && wanted.device_type != kDLCPU)) {
        return "";
      }
      return is_torch ? Words(" Pass ", x, ".cpu().")
                      : Words(" Pass dovetail.from_dlpack(", x, ", device=\"cpu\").");
    case Want::kType: {
      const std::string type = TypeText(TypeToPass(wanted, call));
      if (argument.manner == Manner::kUnknown) return Words(" Pass a tensor of ", type, ".");
      return is_torch ? Words(" Pass ", x, ".to(torch.", type, ").")
                      : Words(" Pass ", x, ".astype(\"", type, "\").");
    }
    case Want::kRowMajor:
    case Want::kInnerDense:
      if (is_torch) return Words(" Pass ", x, ".contiguous().");
      return is_numpy ? Words(" Pass numpy.ascontiguousarray(", x, ").")
                      : " Pass a contiguous copy.";
    case Want::kColumnMajor:
      return is_numpy ? Words(" Pass numpy.asfortranarray(", x, ").")
                      : " Pass a column-major copy.";
    case Want::kAccess:
      if (argument.is_immutable && call.names != nullptr) {
        return " Its library's arrays never change: leave the argument out.";
      }
      return " Pass a copy, and read the result there.";
    case Want::kRepeats:
      return " Pass a copy, and read the result there.";
    case Want::kAlignment:
      return " Pass a copy.";
    default:
      return "";
  }
}

// The same. If the function writes the tensor, the caller finds the result in the copy that he
// passes, and is told so.
[[gnu::cold]] inline std::string RemedyFor(Want misfit, const DovetailRequirements& wanted,
                                           const DovetailCall& call,
                                           const ArgumentClass& argument) {
  std::string remedy = Remedy(misfit, wanted, call, argument);
  if ((wanted.flags & DOVETAIL_WRITABLE) == 0 || remedy.empty() || misfit == Want::kAccess ||
      misfit == Want::kRepeats) {
    return remedy;
  }
  remedy.pop_back();
  return remedy + ", and read the result there.";
}

// Of leading dimensions that are not those of another argument. Without named sizes after them,
// they are the whole shape.
[[gnu::cold]] inline std::string LeadComplaint(const DLTensor& tensor,
                                               const DovetailRequirements& wanted,
                                               const DovetailCall& call) {
  const bool is_shape = wanted.ndim == 0;
  const int32_t index = FindNamedLead(call, wanted.leading_name);
  if (index == call.num_leads) {
    return Words("has ", is_shape ? "a named shape" : "named leading dimensions",
                 ", and a call has at most ", DOVETAIL_MAX_NAMED_LEADS, " of them");
  }
  const std::string has = Tuple(tensor.shape, tensor.ndim - wanted.ndim);
  const std::string known = Tuple(call.leads[index].shape, call.leads[index].ndim);
  const std::string holder = OtherArgument(call, call.leads[index].position);
  if (!is_shape) {
    return Words("has the leading dimensions ", has, ", and ", holder, " has ", known);
  }
  return Words("must have shape ", known, " to match ", holder, ", and has shape ", has);
}

// Of a size that is not the wanted one, or that does not go with its name.
[[gnu::cold]] inline std::string SizeComplaint(const Misfit& misfit, const DLTensor& tensor,
                                               const DovetailRequirements& wanted,
                                               const DovetailCall& call) {
  if (misfit.wanted >= 0) {
    return Words("must have size ", misfit.wanted, " in dimension ", misfit.axis,
                 ", and has shape ", Tuple(tensor.shape, tensor.ndim));
  }
  if (misfit.axis < 0) return LeadComplaint(tensor, wanted, call);
  const bool is_leading = (wanted.flags & DOVETAIL_LEADING) != 0;
  const int32_t entry = misfit.axis - (is_leading ? tensor.ndim - wanted.ndim : 0);
  const std::string name = SizeName(wanted, entry);
  const int64_t multiple = MultipleIn(misfit.wanted);
  const int32_t index = FindNamedSize(call, NameIn(misfit.wanted));
  if (multiple != 1 && (index < call.num_sizes || misfit.found % multiple != 0)) {
    const std::string has = Words("must have size ", multiple, " * ", name, " in dimension ",
                                  misfit.axis, ", and has ", misfit.found);
    if (index == call.num_sizes) return has;
    return Words(has, "; ", name, " = ", call.sizes[index].size, " in ",
                 OtherArgument(call, call.sizes[index].position));
  }
  if (index == call.num_sizes) {
    return Words("has the named size ", name, ", and a call has at most ", DOVETAIL_MAX_NAMED_SIZES,
                 " of them");
  }
  const auto& known = call.sizes[index];
  const bool is_own = known.position == call.position && call.element == 0;
  return Words("has size ", name, " = ", misfit.found, " in dimension ", misfit.axis, ", and ",
               is_own ? "another dimension" : OtherArgument(call, known.position), " has ", name,
               " = ", known.size);
}

// "must be float32, and is float64"
[[gnu::cold]] inline std::string MisfitText(const Misfit& misfit, const DLTensor& tensor,
                                            const DovetailRequirements& wanted,
                                            const DovetailCall& call) {
  const std::string dimensions = Words(" strides ", Tuple(tensor.strides, tensor.ndim),
                                       " for shape ", Tuple(tensor.shape, tensor.ndim));
  switch (misfit.want) {
    case Want::kDevice:
      return Words("must be ", DeviceWanted(wanted.device_type), ", and is on ",
                   DeviceText(tensor.device));
    case Want::kType:
      return TypeComplaint(tensor.dtype, wanted, call);
    case Want::kRank:
      return Words("must have ", (wanted.flags & DOVETAIL_LEADING) != 0 ? "at least " : "",
                   wanted.ndim, wanted.ndim == 1 ? " dimension" : " dimensions", ", and has shape ",
                   Tuple(tensor.shape, tensor.ndim));
    case Want::kSize:
      return SizeComplaint(misfit, tensor, wanted, call);
    case Want::kAccess:
      return "is written by the function, and is read-only";
    case Want::kRepeats:
      return Words("is written by the function, and has several elements in one place:",
                   dimensions);
    case Want::kRowMajor:
      return Words("must be C-contiguous, and has", dimensions);
    case Want::kColumnMajor:
      return Words("must be F-contiguous, and has", dimensions);
    case Want::kInnerDense:
      return Words("must be contiguous in its last dimension, and has", dimensions);
    case Want::kStride:
      return Words("must be of stride ", misfit.wanted, " in dimension ", misfit.axis, ", and has",
                   dimensions);
    case Want::kAlignment:
      return Words("must be aligned to ", misfit.wanted, " bytes, and is at address ",
                   Hexadecimal(misfit.found));
    default:  // not a requirement of borrowed.h
      return "";
  }
}

// The whole text. `misfit` is that of FindMismatch().
[[gnu::cold, gnu::noinline]] inline std::string Complain(const Misfit& misfit,
                                                         const DLTensor& tensor,
                                                         const DovetailRequirements& wanted,
                                                         const DovetailCall& call,
                                                         const ArgumentClass& argument) {
  return Words(ArgumentPrefix(call), " (", argument.name, ") ",
               MisfitText(misfit, tensor, wanted, call), ".",
               RemedyFor(misfit.want, wanted, call, argument));
}

}  // namespace internal_fit
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_FIT_COMPLAINT_H_
