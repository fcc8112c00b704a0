#include "dovetail/python/module/tensor/methods.h"
#include "dovetail/python/module/tensor/new_tensors.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/core/index.h"
#include "dovetail/core/internal/tensor_builder.h"
#include "dovetail/core/internal/views/views.h"
#include "dovetail/core/packing.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/module/arguments/arguments.h"
#include "dovetail/python/module/objects/dtype_class.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace dovetail::python {
namespace {

using Items = absl::InlinedVector<IndexItem, Layout::kInlineRank>;

bool CheckDim(int64_t dim, int rank, int* normalized) {
  absl::Status status = NormalizeDim(dim, rank, normalized);
  return status.ok() || (RaiseStatus(status), false);
}

// Distinct dimensions of a tensor of `rank`, as an int or a sequence of them.
bool ParseDistinctDims(PyObject* value, int rank, absl::InlinedVector<int, 8>* dims) {
  Dims given;
  if (!ParseShape(value, &given)) return false;
  for (const int64_t dim : given) {
    int normalized;
    if (!CheckDim(dim, rank, &normalized)) return false;
    if (std::ranges::find(*dims, normalized) != dims->end()) {
      PyErr_Format(PyExc_ValueError, "dimension %lld is named twice", static_cast<long long>(dim));
      return false;
    }
    dims->push_back(normalized);
  }
  return true;
}

PyObject* ReshapeTo(PyObject* self, const Dims& shape) {
  PyObject* tuple = ShapeToPython(shape);
  if (tuple == nullptr) return nullptr;
  PyObject* result = ReshapeMethod(self, &tuple, 1);
  Py_DECREF(tuple);
  return result;
}

PyObject* FlattenDims(PyObject* self, int first, int last) {
  const Layout& layout = AsTensor(self).layout();
  Dims shape;
  int64_t merged = 1;
  for (int d = 0; d < layout.rank(); ++d) {
    if (d < first || d > last) {
      shape.push_back(layout.shape(d));
      continue;
    }
    if (__builtin_mul_overflow(merged, layout.shape(d), &merged)) {
      return Raise(PyExc_ValueError, "the flattened dimension has more than 2^63 elements");
    }
    if (d == last) shape.push_back(merged);
  }
  if (layout.rank() == 0) shape.push_back(1);
  return ReshapeTo(self, shape);
}

// The layout of the same bytes with elements of `to` bits instead of `from`.
absl::StatusOr<Layout> Rescaled(const Layout& layout, int64_t from, int64_t to) {
  if (from == to) return layout;
  const int last = layout.rank() - 1;
  if (last < 0) {
    return absl::InvalidArgumentError(
        "a tensor without dimensions has no last one to view as a type of another size; call "
        "reshape(1) first");
  }
  if (layout.shape(last) > 1 && layout.stride(last) != 1) {
    return absl::InvalidArgumentError(
        "a view as a type of another size needs a last dimension without gaps; call contiguous()");
  }
  Dims shape(layout.shape().begin(), layout.shape().end());
  Dims strides(layout.strides().begin(), layout.strides().end());
  const auto scale = [&](int64_t* elements) {
    __extension__ typedef __int128 Wide;
    const Wide bits = static_cast<Wide>(*elements) * from;
    if (bits % to != 0 || bits / to > INT64_MAX || bits / to < INT64_MIN) return false;
    *elements = static_cast<int64_t>(bits / to);
    return true;
  };
  bool divides = scale(&shape[last]);
  for (int d = 0; d < last; ++d) divides = divides && (shape[d] == 1 || scale(&strides[d]));
  if (!divides) {
    return absl::InvalidArgumentError(
        absl::StrCat("rows of ", layout.shape(last), " elements of ", from,
                     " bits are no whole number of elements of ", to, " bits"));
  }
  strides[last] = 1;
  return Layout::Strided(shape, strides);
}

PyObject* ViewAsType(PyObject* self, DType dtype) {
  const Tensor& tensor = AsTensor(self);
  const int64_t from = StepBits(tensor.dtype(), tensor.packing());
  const int64_t to = StepBits(dtype, tensor.packing());
  absl::StatusOr<Layout> layout = Rescaled(tensor.layout(), from, to);
  if (!layout.ok()) return RaiseStatus(layout.status());
  // The bytes of each row are the same, so that no element lies outside.
  return ViewOf(self, internal_tensor::MakeUnchecked(
                          tensor.storage(), tensor.byte_offset(), dtype, *std::move(layout),
                          {.access = tensor.access(), .packing = tensor.packing()}));
}

}  // namespace

PyObject* SqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  static constinit const Signature kSignature("squeeze", 1, 0, {"dim", "axis"});
  PyObject* v[2];
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  if (IsGiven(v[0]) && IsGiven(v[1])) {
    return Raise(PyExc_TypeError, "squeeze() takes dim or axis, which mean the same, not both");
  }
  const Layout& layout = AsTensor(self).layout();
  PyObject* const given = IsGiven(v[0]) ? v[0] : v[1];
  absl::InlinedVector<int, 8> dims;
  if (IsGiven(given)) {
    if (!ParseDistinctDims(given, layout.rank(), &dims)) return nullptr;
    for (const int dim : dims) {
      if (layout.shape(dim) != 1) {
        return Raise(PyExc_ValueError,
                     absl::StrCat("dimension ", dim, " of shape ", ShapeToString(layout.shape()),
                                  " can't be squeezed: its size is not 1"));
      }
    }
  } else {
    for (int d = 0; d < layout.rank(); ++d) {
      if (layout.shape(d) == 1) dims.push_back(d);
    }
  }
  Items items(layout.rank(), IndexItem::Range({}));
  for (const int dim : dims) items[dim] = IndexItem::At(0);
  return ViewOf(self, AsTensor(self).Index(items));
}

PyObject* UnsqueezeMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  static constinit const Signature kSignature("unsqueeze", 1, 1, {"dim"});
  PyObject* v[1];
  int64_t given;
  int dim;
  const int rank = AsTensor(self).rank();
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseInt(v[0], &given) ||
      !CheckDim(given, rank + 1, &dim)) {
    return nullptr;
  }
  Items items(rank + 1, IndexItem::Range({}));
  items[dim] = IndexItem::NewAxis();
  return ViewOf(self, AsTensor(self).Index(items));
}

PyObject* FlattenMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                        PyObject* kwnames) {
  static constinit const Signature kSignature("flatten", 2, 0, {"start_dim", "end_dim"});
  PyObject* v[2];
  int64_t given[2] = {0, -1};
  int dims[2];
  const int rank = AsTensor(self).rank();
  if (!kSignature.Parse(args, nargs, kwnames, v)) return nullptr;
  for (int i = 0; i < 2; ++i) {
    if (v[i] != nullptr && !ParseInt(v[i], &given[i])) return nullptr;
    if (!CheckDim(given[i], std::max(rank, 1), &dims[i])) return nullptr;
  }
  if (dims[0] > dims[1]) {
    return Raise(PyExc_ValueError, "flatten() takes start_dim before end_dim");
  }
  return FlattenDims(self, dims[0], dims[1]);
}

PyObject* RavelMethod(PyObject* self, PyObject*) {
  return FlattenDims(self, 0, AsTensor(self).rank() - 1);
}

PyObject* SwapAxesMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2) return Raise(PyExc_TypeError, "swapaxes() takes two dimensions");
  return TransposeMethod(self, args, nargs);
}

PyObject* MoveAxisMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  static constinit const Signature kSignature("moveaxis", 2, 2, {"source", "destination"});
  PyObject* v[2];
  const int rank = AsTensor(self).rank();
  absl::InlinedVector<int, 8> from, to;
  if (!kSignature.Parse(args, nargs, kwnames, v) || !ParseDistinctDims(v[0], rank, &from) ||
      !ParseDistinctDims(v[1], rank, &to)) {
    return nullptr;
  }
  if (from.size() != to.size()) {
    return Raise(PyExc_ValueError, "moveaxis() takes as many sources as destinations");
  }
  Dims order(rank, -1);
  for (size_t i = 0; i < from.size(); ++i) order[to[i]] = from[i];
  int next = 0;
  for (int64_t& dim : order) {
    if (dim >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    dim = next++;
  }
  return ViewOf(self, AsTensor(self).Permute(order));
}

PyObject* MatrixTransposed(PyObject* self) {
  if (AsTensor(self).rank() < 2) {
    return Raise(PyExc_ValueError, "mT exchanges the last two dimensions, and there are fewer");
  }
  return ViewOf(self, AsTensor(self).Transpose(-2, -1));
}

PyObject* ExpandMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  const Layout& layout = AsTensor(self).layout();
  Dims shape;
  if (!ParseDims(args, nargs, &shape)) return nullptr;
  const int added = static_cast<int>(shape.size()) - layout.rank();
  for (int d = std::max(added, 0); d < static_cast<int>(shape.size()); ++d) {
    if (shape[d] == -1 && added >= 0) shape[d] = layout.shape(d - added);
  }
  return ViewOf(self, AsTensor(self).BroadcastTo(shape));
}

PyObject* BroadcastToMethod(PyObject* self, PyObject* value) {
  Dims shape;
  if (!ParseShape(value, &shape)) return nullptr;
  return ViewOf(self, AsTensor(self).BroadcastTo(shape));
}

PyObject* ViewMethod(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs == 1 && !PyIndex_Check(args[0]) &&
      (!PySequence_Check(args[0]) || PyUnicode_Check(args[0]) || PyType_Check(args[0]))) {
    DType dtype;
    return ParseDType(args[0], &dtype) ? ViewAsType(self, dtype) : nullptr;
  }
  Dims shape;
  if (!ParseDims(args, nargs, &shape)) return nullptr;
  absl::StatusOr<Tensor> view = AsTensor(self).Reshape(shape);
  if (absl::IsFailedPrecondition(view.status())) {
    return Raise(PyExc_ValueError, view.status().message());
  }
  return ViewOf(self, std::move(view));
}

}  // namespace dovetail::python
