#include <nanobind/nanobind.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
std::string Remedy(Mismatch kind, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted) {
  PyTypeObject* const type = Py_TYPE(borrowed.object);
  const bool is_numpy = numpy_ndarray.IsBaseOf(type), is_torch = torch_tensor.IsBaseOf(type);
  switch (kind) {
    case Mismatch::kDevice:
      if (wanted.device_type != DOVETAIL_HOST_MEMORY && wanted.device_type != kDLCPU) return "";
      return is_torch ? " Pass x.cpu()." : " Pass dovetail.from_dlpack(x, device=\"cpu\").";
    case Mismatch::kDType:
      if (is_torch) return absl::StrCat(" Pass x.to(torch.", DTypeName(wanted.dtype), ").");
      return absl::StrCat(" Pass x.astype(\"", DTypeName(wanted.dtype), "\").");
    case Mismatch::kCContiguous:
    case Mismatch::kInnerContiguous:
      if (is_torch) return " Pass x.contiguous().";
      return is_numpy ? " Pass numpy.ascontiguousarray(x)." : " Pass a contiguous copy.";
    case Mismatch::kFContiguous:
      return is_numpy ? " Pass numpy.asfortranarray(x)." : " Pass a column-major copy.";
    case Mismatch::kReadOnly:
    case Mismatch::kAlignment:
      return " Pass a copy.";
    default:
      return "";
  }
}

std::string Complaint(Mismatch mismatch, int32_t i, const DovetailBorrowed& borrowed,
                      const DovetailRequirements& wanted, const DovetailCall& call) {
  const DLTensor& tensor = borrowed.tensor;
  const auto strides = [&](const char* what) {
    return absl::StrCat("must be ", what, ", and has strides ", Tuple(tensor.strides, tensor.ndim),
                        " for shape ", Tuple(tensor.shape, tensor.ndim));
  };
  switch (mismatch) {
    case Mismatch::kNone:
      break;
    case Mismatch::kDevice:
      return absl::StrCat("must be ", DeviceWanted(wanted.device_type), ", and is on ",
                          ToDevice(tensor.device).ToString());
    case Mismatch::kDType:
      return absl::StrCat("must be ", DTypeName(wanted.dtype), ", and is ",
                          DTypeName(tensor.dtype));
    case Mismatch::kRank:
      return absl::StrCat("must have ", wanted.ndim,
                          wanted.ndim == 1 ? " dimension" : " dimensions", ", and has shape ",
                          Tuple(tensor.shape, tensor.ndim));
    case Mismatch::kSize:
      return absl::StrCat("must have size ", wanted.shape[i], " in dimension ", i,
                          ", and has shape ", Tuple(tensor.shape, tensor.ndim));
    case Mismatch::kNamedSize: {
      const auto& known = call.sizes[FindNamedSize(call, wanted.shape[i])];
      const std::string name = SizeName(known.name);
      return absl::StrCat("has size ", name, " = ", tensor.shape[i], " in dimension ", i, ", and ",
                          known.position == call.position
                              ? "another dimension"
                              : absl::StrCat("argument ", known.position),
                          " has ", name, " = ", known.size);
    }
    case Mismatch::kTooManyNames:
      return absl::StrCat("has the named size ", SizeName(wanted.shape[i]),
                          ", and a call has at most ", DOVETAIL_MAX_NAMED_SIZES, " of them");
    case Mismatch::kReadOnly:
      return "is written by the function, and is read-only";
    case Mismatch::kCContiguous:
      return strides("C-contiguous");
    case Mismatch::kFContiguous:
      return strides("F-contiguous");
    case Mismatch::kInnerContiguous:
      return strides("contiguous in its last dimension");
    case Mismatch::kStride:
      return strides(absl::StrCat("of stride ", wanted.strides[i], " in dimension ", i).c_str());
    case Mismatch::kAlignment:
      return absl::StrCat("must be aligned to ", wanted.alignment, " bytes, and is at address 0x",
                          absl::Hex(reinterpret_cast<uintptr_t>(tensor.data)));
  }
  return "";
}

PyObject* ErrorClass(Mismatch kind) {
  switch (kind) {
    case Mismatch::kDevice:
    case Mismatch::kDType:
    case Mismatch::kRank:
      return PyExc_TypeError;
    case Mismatch::kReadOnly:
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

void RaiseMismatch(Mismatch mismatch, int32_t dimension, const DovetailBorrowed& borrowed,
                   const DovetailRequirements& wanted, const DovetailCall& call) {
  Raise(ErrorClass(mismatch),
        absl::StrCat(ArgumentPrefix(call), " (", ClassName(borrowed.object), ") ",
                     Complaint(mismatch, dimension, borrowed, wanted, call), ".",
                     Remedy(mismatch, borrowed, wanted)));
}

}  // namespace dovetail::python
