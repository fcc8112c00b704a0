#include "dovetail/python/module/values/nested.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dovetail/core/copy.h"
#include "dovetail/core/internal/float_format.h"
#include "dovetail/core/trace/no_copies.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/lookup.h"
#include "dovetail/python/exchange/base/thread_end.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"
#include "dovetail/python/module/values/casting.h"
#include "dovetail/python/module/values/data_kind.h"
#include "dovetail/python/module/values/elements.h"
#include "dovetail/python/module/values/numbers.h"
#include "dovetail/python/module/values/scalar.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

// The type that a number has by itself.
bool InferDType(PyObject* number, const ElementValue& value, DType* dtype) {
  const bool exact = PyFloat_CheckExact(number) || PyLong_CheckExact(number) ||
                     PyBool_Check(number) || PyComplex_CheckExact(number);
  nb::object own;
  if (!exact && !FindAttribute(number, "dtype", &own)) return false;
  if (own.is_valid()) return ParseDType(own.ptr(), dtype);
  if (std::holds_alternative<uint64_t>(value)) {
    PyErr_Format(
        PyExc_OverflowError,
        "%R does not fit int64, which Python's ints become; give dtype=dovetail.uint64, or "
        "a floating-point type",
        number);
    return false;
  }
  constexpr DType kByAlternative[] = {kBool, kInt64, kUInt64, kFloat32, kComplex64};
  *dtype = kByAlternative[value.index()];
  return true;
}

// Gathers the numbers of nested sequences in order, and the shape that they have.
class Collector {
 public:
  Collector(const DType* dtype, const AssignRules& rules)
      : wanted_(dtype),
        rules_(rules),
        is_checked_(dtype != nullptr && rules.covers_numbers && rules.casting != Casting::kUnsafe) {
  }

  bool Add(PyObject* x) {
    if (++num_items_ % kItemsPerQuestion == 0 && PyErr_CheckSignals() != 0) return false;
    if (is_checked_) return AddOther(x);
    if (PyFloat_CheckExact(x)) {
      if (!CheckLeaf(path_.size()) || !Join(kFloat32)) return false;
      numbers_.AddReal(PyFloat_AS_DOUBLE(x));
      return true;
    }
    if (PyLong_CheckExact(x)) {
      int overflow;
      const int64_t integer = PyLong_AsLongLongAndOverflow(x, &overflow);
      if (overflow != 0) return AddNumber(x);
      if (!CheckLeaf(path_.size()) || !Join(kInt64)) return false;
      numbers_.AddInteger(integer);
      return true;
    }
    return AddOther(x);
  }

  // `result` is written in any case; it is whole only when this returns true.
  bool Finish(Tensor* result) {
    const DType dtype = wanted_ != nullptr ? *wanted_ : found_.value_or(kFloat32);
    return numbers_.Write(shape_, dtype, result);
  }

 private:
  static constexpr int64_t kItemsPerQuestion = 1 << 16;  // about 2 ms
  static constexpr int64_t kManyElements = 64;           // for which a copy pays

  bool AddOther(PyObject* x) {
    DataKind kind;
    nb::object array;
    if (!Classify(x, &kind, &array)) return false;
    switch (kind) {
      case DataKind::kNumber:
        return AddNumber(x);
      case DataKind::kSequence:
        return AddSequence(x);
      case DataKind::kArray:
        return AddTensor(AsTensor(array.ptr()));
      case DataKind::kOther:
        break;
    }
    return RaiseNoData(Place(), x);
  }

  bool AddNumber(PyObject* x) {
    if (!CheckLeaf(path_.size())) return false;
    if (is_checked_ && !CheckNumberCast(x, *wanted_, rules_)) return false;
    const bool to_float =
        wanted_ != nullptr && wanted_->kind != TypeKind::kInt && wanted_->kind != TypeKind::kUInt;
    ElementValue value;
    if (!ValueFromPython(x, to_float, &value)) return false;
    if (wanted_ == nullptr) {
      DType dtype;
      if (!InferDType(x, value, &dtype) || !Join(dtype)) return false;
    }
    numbers_.Add(value);
    return true;
  }

  bool AddSequence(PyObject* x) {
    // A tuple of its own: looking at the numbers may run Python code that changes a list.
    nb::object items = nb::steal(HangAtThreadEnd([&] { return PySequence_Tuple(x); }));
    if (!items.is_valid()) return false;
    const Py_ssize_t size = PyTuple_GET_SIZE(items.ptr());
    if (!CheckLength(path_.size(), size)) return false;
    path_.push_back(0);
    for (Py_ssize_t i = 0; i < size; ++i) {
      path_.back() = i;
      if (!Add(PyTuple_GET_ITEM(items.ptr(), i))) return false;
    }
    path_.pop_back();
    return true;
  }

  bool AddTensor(const Tensor& t) {
    for (int dim = 0; dim < t.rank(); ++dim) {
      if (!CheckLength(path_.size() + dim, t.layout().shape(dim))) return false;
    }
    if (t.num_elements() != 0 && !CheckLeaf(path_.size() + t.rank())) return false;
    if (!CheckHasNumbers(t.dtype()) || !Join(t.dtype())) return false;
    if (is_checked_ && !CanCast(t.dtype(), *wanted_, rules_.casting)) {
      return RefuseCast(t.dtype().ToString(), *wanted_, rules_);
    }
    Tensor copy;
    const Tensor* const ready = ReadyHost(t, &copy);
    if (ready == nullptr) return false;
    if (t.num_elements() >= kManyElements && IsHeldExactly(t.dtype())) return AddAll(*ready);
    const int64_t step = StepBits(t.dtype(), ready->packing());
    return ForEachElement(ready->layout(), step, 0, [&](int64_t bit) {
      numbers_.Add(ReadElement(ready->raw_data(), bit, t.dtype()));
      return ++num_items_ % kItemsPerQuestion != 0 || PyErr_CheckSignals() == 0;
    });
  }

  // Whether NumberList holds every element of the type as an integer or a float.
  static bool IsHeldExactly(DType dtype) {
    return dtype.kind == TypeKind::kInt || (dtype.kind == TypeKind::kUInt && dtype.bits < 64) ||
           FloatFormatOf(dtype).has_value();
  }

  bool AddAll(const Tensor& t) {
    const InternalCopies allowed;
    // Held without the GIL. NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const Tensor source = t;
    const bool is_real = FloatFormatOf(t.dtype()).has_value();
    const absl::StatusOr<Tensor> wide = WithoutGilIf(
        IsLong(source), [&] { return Copied(source, {.dtype = is_real ? kFloat64 : kInt64}); });
    if (!wide.ok()) return RaiseStatus(wide.status()), false;
    if (is_real) {
      for (const double value : *wide->span<double>()) numbers_.AddReal(value);
    } else {
      for (const int64_t value : *wide->span<int64_t>()) numbers_.AddInteger(value);
    }
    return PyErr_CheckSignals() == 0;
  }

  bool Join(DType dtype) {
    if (wanted_ != nullptr) return true;
    if (!found_) found_ = dtype;
    if (*found_ == dtype) return true;
    absl::StatusOr<DType> common = Promote(*found_, dtype);
    if (!common.ok()) return RaiseStatus(common.status()), false;
    found_ = *common;
    return true;
  }

  // A number at `depth`: all must be equally deep.
  bool CheckLeaf(size_t depth) {
    if (depth == shape_.size()) {
      has_leaf_ = true;
      return true;
    }
    return Ragged(absl::StrCat("there is a number where a sequence of length ", shape_[depth],
                               " is expected"));
  }

  // A sequence at `depth`: all at the same depth must be equally long.
  bool CheckLength(size_t depth, int64_t size) {
    if (depth < shape_.size()) {
      return shape_[depth] == size ||
             Ragged(absl::StrCat("the length is ", size, " where ", shape_[depth], " is expected"));
    }
    if (has_leaf_) return Ragged("there is a sequence where a number is expected");
    if (depth == Layout::kMaxRank) {
      return Raise(PyExc_ValueError,
                   absl::StrCat("The data are nested more than ", Layout::kMaxRank, " deep.")),
             false;
    }
    shape_.push_back(size);
    numbers_.Multiply(size);
    return true;
  }

  std::string Place() const {
    std::string place = "data";
    for (int64_t i : path_) absl::StrAppend(&place, "[", i, "]");
    return place;
  }

  bool Ragged(std::string_view what) const {
    Raise(PyExc_ValueError, absl::StrCat("The data are ragged: at ", Place(), " ", what, "."));
    return false;
  }

  const DType* wanted_;
  const AssignRules& rules_;
  const bool is_checked_;  // each number, against the rule
  std::optional<DType> found_;
  bool has_leaf_ = false;
  Dims shape_;
  std::vector<int64_t> path_;
  int64_t num_items_ = 0;
  NumberList numbers_;
};

}  // namespace

bool TensorFromNested(PyObject* data, const DType* dtype, Tensor* result,
                      const AssignRules& rules) {
  if (dtype != nullptr && !CheckHasNumbers(*dtype)) return false;
  Collector collector(dtype, rules);
  return collector.Add(data) && collector.Finish(result);
}

}  // namespace dovetail::python
