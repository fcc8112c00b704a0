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

// "n" for the name of a size: up to seven letters, the first in the lowest byte.
std::string SizeName(int64_t name) {
  std::string letters;
  for (int64_t rest = -1 - name; rest != 0; rest >>= 8) {
    letters.push_back(static_cast<char>(rest & 0xff));
  }
  return letters;
}

std::string DeviceWanted(int32_t type) {
  if (type == DOVETAIL_HOST_MEMORY) return "in host memory";
  return absl::StrCat("on a ", DeviceTypeName(static_cast<DeviceType>(type)), " device");
}

// What the caller may pass instead, in the manner of the argument's library. Empty if unknown.
std::string Remedy(Want misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted) {
  PyTypeObject* const type = Py_TYPE(borrowed.object);
  const bool is_numpy = numpy_ndarray.IsBaseOf(type), is_torch = torch_tensor.IsBaseOf(type);
  switch (misfit) {
    case Want::kDevice:
      if (wanted.device_type != DOVETAIL_HOST_MEMORY && wanted.device_type != kDLCPU) return "";
      return is_torch ? " Pass x.cpu()." : " Pass dovetail.from_dlpack(x, device=\"cpu\").";
    case Want::kType:
      if (is_torch) return absl::StrCat(" Pass x.to(torch.", DTypeName(wanted.dtype), ").");
      return absl::StrCat(" Pass x.astype(\"", DTypeName(wanted.dtype), "\").");
    case Want::kRowMajor:
    case Want::kInnerDense:
      if (is_torch) return " Pass x.contiguous().";
      return is_numpy ? " Pass numpy.ascontiguousarray(x)." : " Pass a contiguous copy.";
    case Want::kColumnMajor:
      return is_numpy ? " Pass numpy.asfortranarray(x)." : " Pass a column-major copy.";
    case Want::kAccess:
    case Want::kRepeats:
      return " Pass a copy, and read the result there.";
    case Want::kAlignment:
      return " Pass a copy.";
    default:
      return "";
  }
}

// Of a size that is not the wanted one, or that does not go with its name.
std::string SizeComplaint(const Misfit& misfit, const DLTensor& tensor, const DovetailCall& call) {
  if (misfit.wanted >= 0) {
    return absl::StrCat("must have size ", misfit.wanted, " in dimension ", misfit.axis,
                        ", and has shape ", Tuple(tensor.shape, tensor.ndim));
  }
  const std::string name = SizeName(misfit.wanted);
  const int32_t index = FindNamedSize(call, misfit.wanted);
  if (index == call.num_sizes) {
    return absl::StrCat("has the named size ", name, ", and a call has at most ",
                        DOVETAIL_MAX_NAMED_SIZES, " of them");
  }
  const auto& known = call.sizes[index];
  return absl::StrCat("has size ", name, " = ", misfit.found, " in dimension ", misfit.axis,
                      ", and ",
                      known.position == call.position ? "another dimension"
                                                      : absl::StrCat("argument ", known.position),
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
      return absl::StrCat("must be ", DTypeName(wanted.dtype), ", and is ",
                          DTypeName(tensor.dtype));
    case Want::kRank:
      return absl::StrCat("must have ", wanted.ndim,
                          wanted.ndim == 1 ? " dimension" : " dimensions", ", and has shape ",
                          Tuple(tensor.shape, tensor.ndim));
    case Want::kSize:
      return SizeComplaint(misfit, tensor, call);
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
      return absl::StrCat("must be aligned to ", wanted.alignment, " bytes, and is at address 0x",
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
  return prefix;
}

void RaiseMismatch(const Misfit& misfit, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call) {
  Raise(ErrorClass(misfit.want),
        absl::StrCat(ArgumentPrefix(call), " (", ClassName(borrowed.object), ") ",
                     Complaint(misfit, borrowed, wanted, call), ".",
                     Remedy(misfit.want, borrowed, wanted)));
}

}  // namespace dovetail::python
