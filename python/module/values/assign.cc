#include "dovetail/python/module/values/assign.h"

#include <nanobind/nanobind.h>

#include <cstring>
#include <vector>

#include "dovetail/core/copy.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/packing.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/data_kind.h"
#include "dovetail/python/module/values/elements.h"
#include "dovetail/python/module/values/nested.h"
#include "dovetail/python/module/values/scalar.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// Where a value goes.
struct Destination {
  const Tensor& tensor;
  const LayoutView& view;

  int64_t step() const { return StepBits(tensor.dtype(), tensor.packing()); }
  int64_t first_bit() const { return view.offset * step(); }
  bool starts_inside_byte() const { return first_bit() % 8 != 0; }
  Tensor View() const {
    return internal_tensor::MakeUnchecked(tensor.storage(), tensor.byte_offset() + first_bit() / 8,
                                          tensor.dtype(), view.layout,
                                          {.packing = tensor.packing()});
  }
};

thread_local uint64_t write_count = 0;

bool Done(const absl::Status& status) { return status.ok() || (RaiseStatus(status), false); }

// Element by element, from values gathered first: for a target that starts inside a byte.
bool CopyBitwise(const Destination& to, const Tensor& from) {
  if (!ReadyHost(to.tensor)) return false;
  Tensor copy;
  const Tensor* const ready = ReadyHost(from, &copy);
  if (ready == nullptr) return false;
  absl::StatusOr<Tensor> source = ready->BroadcastTo(to.view.layout.shape());
  if (!source.ok()) return Done(source.status());
  std::vector<ElementValue> values;
  values.reserve(source->num_elements());
  const DType dtype = to.tensor.dtype();
  ForEachElement(source->layout(), StepBits(dtype, source->packing()), 0, [&](int64_t bit) {
    values.push_back(ReadElement(source->raw_data(), bit, dtype));
    return true;
  });
  auto value = values.begin();
  return ForEachElement(to.view.layout, to.step(), to.first_bit(), [&](int64_t bit) {
    return WriteValue(to.tensor.raw_data(), bit, dtype, *value++);
  });
}

// As NumPy and torch do, leading dimensions of size 1 that the target lacks are dropped.
bool CopyTensor(const Destination& to, Tensor from) {
  const int rank = to.view.layout.rank();
  while (from.rank() > rank && from.layout().shape(0) == 1) {
    absl::StatusOr<Tensor> inner = from.Select(0, 0);
    if (!inner.ok()) return Done(inner.status());
    from = *std::move(inner);
  }
  const bool is_long = IsLong(from) || IsLong(to.tensor);
  if (!to.starts_inside_byte()) {
    return Done(WithoutGilIf(is_long, [&] { return CopyInto(to.View(), from); }));
  }
  if (from.dtype() != to.tensor.dtype()) {
    absl::StatusOr<Tensor> cast =
        WithoutGilIf(is_long, [&] { return Copied(from, {.dtype = to.tensor.dtype()}); });
    if (!cast.ok()) return Done(cast.status());
    from = *std::move(cast);
  }
  return CopyBitwise(to, from);
}

bool AssignNumber(const Destination& to, PyObject* value) {
  alignas(kMaxElementBytes) char element[kMaxElementBytes];
  const DType dtype = to.tensor.dtype();
  if (!ElementFromPython(value, dtype, element)) return false;
  if (to.view.layout.num_elements() == 0) return true;
  if (to.starts_inside_byte()) {
    if (!ReadyHost(to.tensor)) return false;
    const ElementValue number = ReadElement(element, 0, dtype);
    return ForEachElement(to.view.layout, to.step(), to.first_bit(), [&](int64_t bit) {
      return WriteValue(to.tensor.raw_data(), bit, dtype, number);
    });
  }
  if (to.view.layout.num_elements() == 1 && to.step() % 8 == 0 &&
      IsHostAccessible(to.tensor.device().type)) {
    if (!ReadyHost(to.tensor)) return false;
    std::memcpy(static_cast<char*>(to.tensor.raw_data()) + to.first_bit() / 8, element,
                dtype.itemsize());
    return true;
  }
  return Done(WithoutGilIf(IsLong(to.tensor), [&] { return Fill(to.View(), element); }));
}

// `array` is a dovetail.Tensor.
bool AssignArray(const Destination& to, PyObject* array, const AssignRules& rules) {
  const Tensor& from = AsTensor(array);
  const DType wanted = to.tensor.dtype();
  if (from.dtype() != wanted && from.rank() == 0 && rules.casting == Casting::kSameKind &&
      !rules.covers_numbers) {
    return AssignNumber(to, array);  // a 0-D tensor is as good as its number
  }
  if (!CanCast(from.dtype(), wanted, rules.casting)) {
    return RefuseCast(from.dtype().ToString(), wanted, rules);
  }
  return CopyTensor(to, from);
}

}  // namespace

bool CheckWritable(const Tensor& tensor) {
  if (!tensor.is_read_only()) return true;
  PyErr_SetString(PyExc_ValueError,
                  "the tensor is read-only and can't be written; write to a copy, t.copy()");
  return false;
}

bool Assign(const Tensor& tensor, const LayoutView& view, PyObject* value,
            const AssignRules& rules) {
  ++write_count;
  const Destination to{tensor, view};
  DataKind kind;
  nb::object array;
  if (!Classify(value, &kind, &array)) return false;
  switch (kind) {
    case DataKind::kNumber:
      return CheckNumberCast(value, tensor.dtype(), rules) && AssignNumber(to, value);
    case DataKind::kSequence: {
      Tensor from;
      const DType dtype = tensor.dtype();
      return TensorFromNested(value, &dtype, &from, rules) && CopyTensor(to, std::move(from));
    }
    case DataKind::kArray:
      return AssignArray(to, array.ptr(), rules);
    case DataKind::kOther:
      break;
  }
  return RaiseNoData("the value to assign", value);
}

bool AssignWhole(const Tensor& tensor, PyObject* value, const AssignRules& rules) {
  if (!CheckWritable(tensor)) return false;
  LayoutView whole;
  whole.layout = tensor.layout();
  return Assign(tensor, whole, value, rules);
}

uint64_t WriteCount() { return write_count; }

}  // namespace dovetail::python
