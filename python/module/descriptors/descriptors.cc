#include "dovetail/python/module/descriptors/descriptors.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "absl/status/statusor.h"
#include "dovetail/core/internal/odometer.h"
#include "dovetail/core/layout.h"
#include "dovetail/core/packing.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/integers.h"
#include "dovetail/python/exchange/base/without_gil.h"
#include "dovetail/python/module/arguments/method_table.h"
#include "dovetail/python/module/descriptors/run_pairs.h"
#include "dovetail/python/module/objects/tensor_object.h"

namespace nb = nanobind;

namespace dovetail::python {
namespace {

using internal_loop_nest::ElementLoop;
using internal_loop_nest::ElementOdometer;

constexpr Py_ssize_t kMaxColumns = 5;

// The innermost loop and the others, innermost first.
struct RowLoops {
  ElementLoop inner = {1, 0};
  ElementLoop outer[internal_loop_nest::kMaxLoops];
  int outer_rank = 0;
  int64_t rows = 1;
};

// ((count, stride), ...), outermost first.
bool ParseLoops(PyObject* object, RowLoops* loops) {
  const nb::object items = nb::steal(PySequence_Tuple(object));
  if (!items.is_valid()) return false;
  const Py_ssize_t size = PyTuple_GET_SIZE(items.ptr());
  if (size > internal_loop_nest::kMaxLoops) {
    return PyErr_SetString(PyExc_ValueError, "too many loops"), false;
  }
  for (Py_ssize_t i = size - 1; i >= 0; --i) {
    Dims loop;
    if (!ParseShape(PyTuple_GET_ITEM(items.ptr(), i), &loop)) return false;
    if (loop.size() != 2 || loop[0] < 0 ||
        __builtin_mul_overflow(loops->rows, loop[0], &loops->rows)) {
      return PyErr_SetString(PyExc_ValueError, "a loop is (count, stride)"), false;
    }
    const ElementLoop parsed = {loop[0], loop[1]};
    if (i == size - 1) {
      loops->inner = parsed;
    } else {
      loops->outer[loops->outer_rank++] = parsed;
    }
  }
  return true;
}

template <int kColumns>
void Fill(const RowLoops& loops, uint64_t address, const uint64_t* constants, uint64_t* out) {
  if (loops.rows == 0) return;
  ElementOdometer at(loops.outer, loops.outer_rank);
  do {
    uint64_t start = address + static_cast<uint64_t>(at.offset);
    for (int64_t i = 0; i < loops.inner.count; ++i) {
      out[0] = start;
      for (int c = 1; c < kColumns; ++c) out[c] = constants[c - 1];
      out += kColumns;
      start += static_cast<uint64_t>(loops.inner.step);
    }
  } while (at.Next());
}

struct Buffer {
  Py_buffer view = {};
  ~Buffer() {
    if (view.obj != nullptr) PyBuffer_Release(&view);
  }
};

// _fill_rows(out, address, loops, constants)
PyObject* FillRowsFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 4) return Raise(PyExc_TypeError, "_fill_rows() takes 4 arguments");
  Buffer buffer;
  if (PyObject_GetBuffer(args[0], &buffer.view, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) {
    return nullptr;
  }
  const Py_buffer& out = buffer.view;
  const uint64_t address = PyLong_AsUnsignedLongLongMask(args[1]);
  if (PyErr_Occurred() != nullptr) return nullptr;
  RowLoops loops;
  if (!ParseLoops(args[2], &loops)) return nullptr;
  Dims row;
  if (!ParseShape(args[3], &row)) return nullptr;
  const auto columns = static_cast<Py_ssize_t>(row.size()) + 1;
  if (out.ndim != 2 || out.itemsize != 8 || columns > kMaxColumns || out.shape[1] != columns ||
      out.shape[0] != loops.rows) {
    return Raise(PyExc_ValueError, "`out` has a row for each iteration, of 64-bit integers");
  }
  uint64_t constants[kMaxColumns] = {};
  std::memcpy(constants, row.data(), row.size() * sizeof(uint64_t));
  auto* const rows = static_cast<uint64_t*>(out.buf);
  WithoutGilIf(out.len >= kLongBytes, [&] {
    switch (columns) {
      case 2:
        return Fill<2>(loops, address, constants, rows);
      case 3:
        return Fill<3>(loops, address, constants, rows);
      case 5:
        return Fill<5>(loops, address, constants, rows);
      default:
        break;
    }
  });
  Py_RETURN_NONE;
}

std::optional<Layout> ParseLayout(PyObject* shape, PyObject* strides) {
  Dims sizes, steps;
  if (!ParseShape(shape, &sizes) || !ParseShape(strides, &steps)) return std::nullopt;
  if (sizes.size() != steps.size()) {
    PyErr_SetString(PyExc_ValueError, "The shape and the strides have different lengths.");
    return std::nullopt;
  }
  absl::StatusOr<Layout> layout = Layout::Strided(sizes, steps);
  if (!layout.ok()) return RaiseStatus(layout.status()), std::nullopt;
  return *std::move(layout);
}

// _pair_runs(bits, a_shape, a_strides, b_shape, b_strides, lists)
PyObject* PairRunsFunction(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 6) return Raise(PyExc_TypeError, "_pair_runs() takes 6 arguments");
  int64_t bits;
  if (!ParseInt(args[0], &bits)) return nullptr;
  const std::optional<Layout> a = ParseLayout(args[1], args[2]);
  if (!a) return nullptr;
  const std::optional<Layout> b = ParseLayout(args[3], args[4]);
  if (!b) return nullptr;
  const bool lists = args[5] == Py_True;
  const absl::StatusOr<RunPairs> pairs =
      WithoutGilIf(a->num_elements() >= kLongBytes, [&] { return PairRuns(*b, *a, bits, lists); });
  if (!pairs.ok()) return RaiseExchange(pairs.status());
  if (!pairs->list.empty()) {
    return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(pairs->list.data()),
                                     static_cast<Py_ssize_t>(pairs->list.size() * sizeof(RunPair)));
  }
  const auto rank = static_cast<Py_ssize_t>(pairs->loops.size());
  nb::object loops = nb::steal(PyTuple_New(rank));
  if (!loops.is_valid()) return nullptr;
  for (Py_ssize_t i = 0; i < rank; ++i) {
    const internal_loop_nest::Loop& loop = pairs->loops[static_cast<size_t>(rank - 1 - i)];
    PyObject* const item = ShapeToPython({{loop.count, loop.src_step, loop.dst_step}});
    if (item == nullptr) return nullptr;
    PyTuple_SET_ITEM(loops.ptr(), i, item);
  }
  return Py_BuildValue("LLLLN", static_cast<long long>(pairs->count),
                       static_cast<long long>(pairs->nbytes),
                       static_cast<long long>(pairs->start.src),
                       static_cast<long long>(pairs->start.dst), loops.release().ptr());
}

// _step_bits(tensor)
PyObject* StepBitsFunction(PyObject*, PyObject* object) {
  if (!CheckIsTensor(object)) return nullptr;
  const Tensor& tensor = AsTensorObject(object)->tensor;
  return PyLong_FromLongLong(StepBits(tensor.dtype(), tensor.packing()));
}

PyMethodDef functions[] = {
    Fast<&FillRowsFunction>(
        "_fill_rows",
        "_fill_rows($module, out, address, loops, constants, /)\n--\n\n"
        "Writes (address, *constants) of each iteration of the loops, ((count, stride), ...) with\n"
        "the outermost first, into the rows of a 2-D array of 64-bit integers."),
    Fast<&PairRunsFunction>(
        "_pair_runs",
        "_pair_runs($module, bits, a_shape, a_strides, b_shape, b_strides, lists, /)\n--\n\n"
        "The smallest number of runs of memory by which two layouts correspond, in bytes from\n"
        "element 0. Either (count, nbytes, a_start, b_start, loops) with loops of (iterations,\n"
        "a_stride, b_stride), outermost first. Their runs are more than count if neighbours in\n"
        "memory can be merged. Or, if `lists` or there are no such loops, the bytes of an array\n"
        "of int64 with rows (b_offset, a_offset, nbytes)."),
    OneArgument<&StepBitsFunction>("_step_bits",
                                   "_step_bits($module, tensor, /)\n--\n\n"
                                   "The bits from one element of a contiguous tensor to the next."),
    kEndOfMethods,
};

}  // namespace

bool AddDescriptorFunctions(PyObject* module) {
  return PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace dovetail::python
