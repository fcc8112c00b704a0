#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dovetail/core/device.h"
#include "dovetail/core/dtype.h"
#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/routes/mismatch.h"
#include "dovetail/python/exchange/routes/peer_table.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

std::string DTypeName(DLDataType dtype) { return ToDType(dtype).ToString(); }

std::string Tuple(const int64_t* values, int32_t count) {
  const absl::Span<const int64_t> all(values, static_cast<size_t>(count));
  return absl::StrCat("(", absl::StrJoin(all, ", "), count == 1 ? ",)" : ")");
}

// "torch.Tensor"
std::string ClassName(PyObject* object) {
  if (object == nullptr) return "torch.Tensor";  // of an operator
  PyTypeObject* type = Py_TYPE(object);
  nb::object module =
      nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* text =
      module.is_valid() && PyUnicode_Check(module.ptr()) ? PyUnicode_AsUTF8(module.ptr()) : nullptr;
  std::string name = type->tp_name;
  PyErr_Clear();
  if (text == nullptr || name.find('.') != std::string::npos) return name;
  return absl::StrCat(text, ".", name);
}

// "float32, float16 or bfloat16"
std::string TypeNames(const DovetailRequirements& wanted) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return DTypeName(wanted.dtype);
  std::string names;
  for (int32_t i = 0; i < wanted.num_types; ++i) {
    const char* const between = i == 0 ? "" : i + 1 < wanted.num_types ? ", " : " or ";
    absl::StrAppend(&names, between, DTypeName(wanted.types[i]));
  }
  return names;
}

// Another argument of the call: "argument 2", or by its name. One that is a number has no position.
std::string OtherArgument(const DovetailCall& call, int32_t position) {
  if (position <= 0) return "the call";
  if (position == call.position && call.element > 0) return "an element before it";
  if (call.names == nullptr) return absl::StrCat("argument ", position);
  return absl::StrCat("argument '", call.names[position - 1], "'");
}

std::string TypeComplaint(DLDataType dtype, const DovetailRequirements& wanted,
                          const DovetailCall& call) {
  const std::string is = absl::StrCat(", and is ", DTypeName(dtype));
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0 || !IsOneOf(dtype, wanted)) {
    return absl::StrCat("must be ", TypeNames(wanted), is);
  }
  const int32_t others = FindNamedType(call, wanted.type_name);
  if (others == call.num_types) {
    return absl::StrCat("has a named type, and a call has at most ", DOVETAIL_MAX_NAMED_TYPES,
                        " of them");
  }
  const auto& known = call.types[others];
  return absl::StrCat("must be ", DTypeName(known.dtype), " as ",
                      OtherArgument(call, known.position), is);
}

std::string DeviceWanted(int32_t type) {
  if (type == DOVETAIL_HOST_MEMORY) return "in host memory";
  return absl::StrCat("on a ", DeviceTypeName(static_cast<DeviceType>(type)), " device");
}

// What the caller may pass instead, in the manner of the argument's library. Empty if unknown.
std::string Remedy(Want misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call) {
  // (PyTorch's operators have no object.)
  PyTypeObject* const type = borrowed.object != nullptr ? Py_TYPE(borrowed.object) : nullptr;
  const bool is_numpy = type != nullptr && numpy_ndarray.IsBaseOf(type);
  const bool is_torch = type == nullptr || torch_tensor.IsBaseOf(type);
  const char* const x = call.argument != nullptr ? call.argument : "x";
  switch (misfit) {
    case Want::kDevice:
      if (wanted.device_type != DOVETAIL_HOST_MEMORY && wanted.device_type != kDLCPU) return "";
      return is_torch ? absl::StrCat(" Pass ", x, ".cpu().")
                      : absl::StrCat(" Pass dovetail.from_dlpack(", x, ", device=\"cpu\").");
    case Want::kType:
      if (is_torch) {
        return absl::StrCat(" Pass ", x, ".to(torch.", DTypeName(TypeToPass(wanted, call)), ").");
      }
      return absl::StrCat(" Pass ", x, ".astype(\"", DTypeName(TypeToPass(wanted, call)), "\").");
    case Want::kRowMajor:
    case Want::kInnerDense:
      if (is_torch) return absl::StrCat(" Pass ", x, ".contiguous().");
      return is_numpy ? absl::StrCat(" Pass numpy.ascontiguousarray(", x, ").")
                      : " Pass a contiguous copy.";
    case Want::kColumnMajor:
      return is_numpy ? absl::StrCat(" Pass numpy.asfortranarray(", x, ").")
                      : " Pass a column-major copy.";
    case Want::kAccess:
      if (const Peer* const peer = type != nullptr ? FindPeer(type) : nullptr;
          peer != nullptr && peer->is_immutable && call.names != nullptr) {
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
std::string RemedyFor(Want misfit, const DovetailBorrowed& borrowed,
                      const DovetailRequirements& wanted, const DovetailCall& call) {
  std::string remedy = Remedy(misfit, borrowed, wanted, call);
  if ((wanted.flags & DOVETAIL_WRITABLE) == 0 || remedy.empty() || misfit == Want::kAccess ||
      misfit == Want::kRepeats) {
    return remedy;
  }
  remedy.pop_back();
  return absl::StrCat(remedy, ", and read the result there.");
}

// Of leading dimensions that are not those of another argument. Without named sizes after them,
// they are the whole shape.
std::string LeadComplaint(const DLTensor& tensor, const DovetailRequirements& wanted,
                          const DovetailCall& call) {
  const bool is_shape = wanted.ndim == 0;
  const int32_t index = FindNamedLead(call, wanted.leading_name);
  if (index == call.num_leads) {
    return absl::StrCat("has ", is_shape ? "a named shape" : "named leading dimensions",
                        ", and a call has at most ", DOVETAIL_MAX_NAMED_LEADS, " of them");
  }
  const std::string has = Tuple(tensor.shape, tensor.ndim - wanted.ndim);
  const std::string known = Tuple(call.leads[index].shape, call.leads[index].ndim);
  const std::string holder = OtherArgument(call, call.leads[index].position);
  if (!is_shape) {
    return absl::StrCat("has the leading dimensions ", has, ", and ", holder, " has ", known);
  }
  return absl::StrCat("must have shape ", known, " to match ", holder, ", and has shape ", has);
}

// Of a size that is not the wanted one, or that does not go with its name.
std::string SizeComplaint(const Misfit& misfit, const DLTensor& tensor,
                          const DovetailRequirements& wanted, const DovetailCall& call) {
  if (misfit.wanted >= 0) {
    return absl::StrCat("must have size ", misfit.wanted, " in dimension ", misfit.axis,
                        ", and has shape ", Tuple(tensor.shape, tensor.ndim));
  }
  if (misfit.axis < 0) return LeadComplaint(tensor, wanted, call);
  const bool is_leading = (wanted.flags & DOVETAIL_LEADING) != 0;
  const int32_t entry = misfit.axis - (is_leading ? tensor.ndim - wanted.ndim : 0);
  const std::string name = SizeName(wanted, entry);
  const int64_t multiple = MultipleIn(misfit.wanted);
  const int32_t index = FindNamedSize(call, NameIn(misfit.wanted));
  if (multiple != 1 && (index < call.num_sizes || misfit.found % multiple != 0)) {
    std::string has = absl::StrCat("must have size ", multiple, " * ", name, " in dimension ",
                                   misfit.axis, ", and has ", misfit.found);
    if (index == call.num_sizes) return has;
    return absl::StrCat(has, "; ", name, " = ", call.sizes[index].size, " in ",
                        OtherArgument(call, call.sizes[index].position));
  }
  if (index == call.num_sizes) {
    return absl::StrCat("has the named size ", name, ", and a call has at most ",
                        DOVETAIL_MAX_NAMED_SIZES, " of them");
  }
  const auto& known = call.sizes[index];
  return absl::StrCat(
      "has size ", name, " = ", misfit.found, " in dimension ", misfit.axis, ", and ",
      known.position == call.position && call.element == 0 ? "another dimension"
                                                           : OtherArgument(call, known.position),
      " has ", name, " = ", known.size);
}

std::string Complaint(const Misfit& misfit, const DovetailBorrowed& borrowed,
                      const DovetailRequirements& wanted, const DovetailCall& call) {
  const DLTensor& tensor = borrowed.tensor;
  const auto strides = [&](absl::string_view what) {
    return absl::StrCat("must be ", what, ", and has strides ", Tuple(tensor.strides, tensor.ndim),
                        " for shape ", Tuple(tensor.shape, tensor.ndim));
  };
  switch (misfit.want) {
    case Want::kDevice:
      return absl::StrCat("must be ", DeviceWanted(wanted.device_type), ", and is on ",
                          ToDevice(tensor.device).ToString());
    case Want::kType:
      return TypeComplaint(tensor.dtype, wanted, call);
    case Want::kRank:
      return absl::StrCat("must have ", (wanted.flags & DOVETAIL_LEADING) != 0 ? "at least " : "",
                          wanted.ndim, wanted.ndim == 1 ? " dimension" : " dimensions",
                          ", and has shape ", Tuple(tensor.shape, tensor.ndim));
    case Want::kSize:
      return SizeComplaint(misfit, tensor, wanted, call);
    case Want::kAccess:
      return "is written by the function, and is read-only";
    case Want::kRepeats:
      return absl::StrCat(
          "is written by the function, and has several elements in one place: strides ",
          Tuple(tensor.strides, tensor.ndim), " for shape ", Tuple(tensor.shape, tensor.ndim));
    case Want::kRowMajor:
      return strides("C-contiguous");
    case Want::kColumnMajor:
      return strides("F-contiguous");
    case Want::kInnerDense:
      return strides("contiguous in its last dimension");
    case Want::kStride:
      return strides(absl::StrCat("of stride ", misfit.wanted, " in dimension ", misfit.axis));
    case Want::kAlignment:
      return absl::StrCat("must be aligned to ", misfit.wanted, " bytes, and is at address 0x",
                          absl::Hex(misfit.found));
    default:  // not a requirement of capi.h
      return "";
  }
}

PyObject* ErrorClass(Want misfit) {
  switch (misfit) {
    case Want::kDevice:
    case Want::kType:
    case Want::kRank:
      return PyExc_TypeError;
    case Want::kAccess:
      return ExchangeError();
    default:
      return PyExc_ValueError;
  }
}

}  // namespace

DLDataType TypeToPass(const DovetailRequirements& wanted, const DovetailCall& call) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return wanted.dtype;
  const int32_t others = FindNamedType(call, wanted.type_name);
  if (others < call.num_types) return call.types[others].dtype;
  return wanted.num_types > 0 ? wanted.types[0] : DLDataType{};
}

std::string SizeName(const DovetailRequirements& wanted, int32_t entry) {
  const char* const longer = wanted.long_names != nullptr ? wanted.long_names[entry] : nullptr;
  if (longer != nullptr && *longer != '\0') return longer;
  std::string letters;
  for (int64_t rest = -1 - NameIn(wanted.shape[entry]); rest != 0; rest >>= 8) {
    letters.push_back(static_cast<char>(rest & 0xff));
  }
  return letters;
}

std::string ArgumentPrefix(const DovetailCall& call) {
  std::string prefix;
  if (call.function != nullptr) absl::StrAppend(&prefix, call.function, "(): ");
  if (call.argument != nullptr) {
    absl::StrAppend(&prefix, "argument '", call.argument, "'");
  } else if (call.position > 0) {
    absl::StrAppend(&prefix, "argument ", call.position);
  } else {
    absl::StrAppend(&prefix, "the argument");
  }
  if (call.element > 0) absl::StrAppend(&prefix, ", element ", call.element);
  return prefix;
}

void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call) {
  Raise(ErrorClass(misfit.want),
        absl::StrCat(ArgumentPrefix(call), " (", ClassName(borrowed.object), ") ",
                     Complaint(misfit, borrowed, wanted, call), ".",
                     RemedyFor(misfit.want, borrowed, wanted, call)));
}

}  // namespace dovetail::python
