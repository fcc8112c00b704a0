#include "dovetail/python/module/functions/functions.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/core/tensor.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"
#include "dovetail/python/module/values/assign.h"

namespace dovetail::python {
namespace {

// Bytes: below that, more memory than a tensor needs costs nothing.
constexpr int64_t kSmall = 4096;

PyObject* AsBool(bool value) { return value ? Py_True : Py_False; }  // borrowed
PyObject* NewNone() { return Py_NewRef(Py_None); }

// Whether every element between the lowest and the highest is there, and once.
bool IsDense(const Layout& layout) {
  absl::InlinedVector<std::pair<uint64_t, int64_t>, Layout::kInlineRank> dims;  // step, size
  for (int d = 0; d < layout.rank(); ++d) {
    if (layout.shape(d) == 0) return true;
    const auto stride = static_cast<uint64_t>(layout.stride(d));
    if (layout.shape(d) > 1) dims.emplace_back(std::min(stride, -stride), layout.shape(d));
  }
  std::ranges::sort(dims);
  uint64_t expected = 1;
  for (const auto& [step, size] : dims) {
    if (step != expected) return false;
    expected *= static_cast<uint64_t>(size);
  }
  return true;
}

// `nbytes` bytes of the memory of `tensor`, from `offset` of its Storage.
PyObject* Bytes(const Tensor& tensor, int64_t offset, int64_t nbytes) {
  absl::StatusOr<Layout> layout = Layout::Contiguous({nbytes});
  if (!layout.ok()) return RaiseStatus(layout.status());
  return WrapTensor(Tensor::Make(tensor.storage(), offset, kUInt8, *std::move(layout),
                                 {.access = tensor.access()}));
}

bool ParseFlag(PyObject* value, const char* name, bool* flag) {
  if (!PyBool_Check(value)) {
    PyErr_Format(PyExc_TypeError, "a pickled tensor's %s must be True or False, not %R", name,
                 value);
    return false;
  }
  *flag = value == Py_True;
  return true;
}

bool ParseIntegers(PyObject* value, const char* name, Dims* dims) {
  if (!PyTuple_Check(value)) {
    PyErr_Format(PyExc_TypeError, "a pickled tensor's %s must be a tuple, not %R", name, value);
    return false;
  }
  return ParseShape(value, dims);
}

bool ParseMemory(PyObject* value, Tensor* memory) {
  if (!IsTensor(value) || AsTensor(value).dtype() != kUInt8 || AsTensor(value).rank() != 1 ||
      !AsTensor(value).is_contiguous()) {
    PyErr_Format(PyExc_TypeError,
                 "a pickled tensor's memory must be a contiguous 1-D tensor of uint8, not %R",
                 Py_TYPE(value));
    return false;
  }
  *memory = AsTensor(value);
  return true;
}

absl::StatusOr<Tensor> TensorIn(const Tensor& memory, int64_t offset, DType dtype, Layout layout,
                                Tensor::Options options) {
  ByteRange range;
  if (absl::Status s = BytesReached(layout, dtype, options.packing, &range); !s.ok()) return s;
  const bool fits = offset >= 0 && offset <= memory.num_elements() && range.begin >= -offset &&
                    range.end <= memory.num_elements() - offset;
  if (!fits) {
    return absl::InvalidArgumentError(
        absl::StrCat("a pickled tensor with ", layout.ToString(), " of ", dtype.ToString(),
                     " from byte ", offset, " does not fit its memory of ", memory.num_elements(),
                     " bytes: the pickle or one of its buffers is damaged"));
  }
  if (memory.is_read_only()) options.access = Access::kReadOnly;
  return internal_tensor::MakeUnchecked(memory.storage(), memory.byte_offset() + offset, dtype,
                                        std::move(layout), options);
}

}  // namespace

PyObject* MemoryOfFunction(PyObject*, PyObject* object) {
  if (!CheckIsTensor(object)) return nullptr;
  const Tensor& tensor = AsTensor(object);
  const auto nbytes = static_cast<int64_t>(tensor.storage()->nbytes());
  const bool is_worth = nbytes <= kSmall || nbytes / 2 <= tensor.nbytes();
  ByteRange range;
  const bool is_dense =
      IsDense(tensor.layout()) &&
      BytesReached(tensor.layout(), tensor.dtype(), tensor.packing(), &range).ok();
  PyObject* const part =
      is_dense ? Bytes(tensor, tensor.byte_offset() + range.begin, range.size()) : NewNone();
  PyObject* const strides = tensor.is_contiguous() ? NewNone() : ShapeToPython(tensor.strides());
  // (A null pointer among the arguments, which are dropped then, is an error that is set.)
  return Py_BuildValue(
      "NNOKK(sNNOOO)", Bytes(tensor, 0, nbytes), part, AsBool(is_worth),
      static_cast<unsigned long long>(WriteCount()),
      static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(tensor.raw_data())),
      tensor.dtype().ToString().c_str(), ShapeToPython(tensor.shape()), strides,
      AsBool(tensor.is_read_only()), AsBool(tensor.packing() == Packing::kPadded),
      AsBool(AsTensorObject(object)->requires_grad.load()));
}

PyObject* TensorInFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyTuple_Check(args[1]) || PyTuple_GET_SIZE(args[1]) != 7) {
    return Raise(PyExc_TypeError, "_tensor_in() takes the memory and a tuple of 7 fields");
  }
  PyObject* const* const fields = &PyTuple_GET_ITEM(args[1], 0);
  Tensor memory;
  int64_t offset = 0;
  DType dtype;
  Dims shape, strides;
  bool readonly = false, padded = false, requires_grad = false;
  if (!PyUnicode_Check(fields[1])) {
    PyErr_Format(PyExc_TypeError, "a pickled tensor's dtype must be a name, not %R", fields[1]);
    return nullptr;
  }
  if (!ParseMemory(args[0], &memory) || !ParseInt(fields[0], &offset) ||
      !ParseDType(fields[1], &dtype) || !ParseIntegers(fields[2], "shape", &shape) ||
      (fields[3] != Py_None && !ParseIntegers(fields[3], "strides", &strides)) ||
      !ParseFlag(fields[4], "readonly", &readonly) || !ParseFlag(fields[5], "padded", &padded) ||
      !ParseFlag(fields[6], "requires_grad", &requires_grad)) {
    return nullptr;
  }
  absl::StatusOr<Layout> layout =
      fields[3] == Py_None ? Layout::Contiguous(shape) : Layout::Strided(shape, strides);
  if (!layout.ok()) return RaiseStatus(layout.status());
  PyObject* const result =
      WrapTensor(TensorIn(memory, offset, dtype, *std::move(layout),
                          {.access = readonly ? Access::kReadOnly : Access::kReadWrite,
                           .packing = padded ? Packing::kPadded : Packing::kPacked}));
  if (result != nullptr && requires_grad && !MarkRequiresGrad(result, true)) {
    Py_DECREF(result);
    return nullptr;
  }
  return result;
}

}  // namespace dovetail::python
