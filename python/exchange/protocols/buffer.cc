#include "dovetail/python/exchange/protocols/buffer.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dlpack/dlpack.h"
#include "dovetail/core/dtype.h"
#include "dovetail/core/packing.h"
#include "dovetail/interop/buffer/format.h"
#include "dovetail/interop/buffer/import.h"
#include "dovetail/interop/buffer/strided.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/host_ready.h"
#include "dovetail/python/exchange/base/numpy_abi.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/base/peer_type.h"
#include "dovetail/python/exchange/protocols/array_interface.h"
#include "dovetail/python/exchange/protocols/fill.h"

namespace dovetail::python {
namespace {

// Holds the buffer as one run of bytes; nullptr with an error set.
std::unique_ptr<HeldBuffer> HoldBuffer(PyObject* object) {
  if (!PyObject_CheckBuffer(object)) {
    PyErr_Format(PyExc_ValueError,
                 "frombuffer() needs an object with the buffer protocol; %.200s "
                 "has none",
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  if (!CheckUnmasked(object)) return nullptr;
  auto held = std::make_unique<HeldBuffer>();
  if (PyObject_GetBuffer(object, &held->view, PyBUF_SIMPLE) == 0) return held;
  // An error of ours says what to do. NumPy raises a ValueError for what is not contiguous, others
  // a BufferError.
  if (PyErr_ExceptionMatches(ExchangeError())) return nullptr;
  if (PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
    RaiseExchangeFromSet(
        "frombuffer() can't have the bytes of this buffer in one run (where they only are not "
        "contiguous, copy it first, as in bytes(buffer))");
  }
  return nullptr;
}

}  // namespace

bool HoldBytesObject(PyObject* object, HeldBytes* bytes) {
  *bytes = {PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object), Access::kReadOnly,
            ReleaseObject(Py_NewRef(object))};
  return true;
}

bool HoldBufferBytes(PyObject* object, HeldBytes* bytes) {
  std::unique_ptr<HeldBuffer> held = HoldBuffer(object);
  if (held == nullptr) return false;
  const Py_buffer& view = held->view;
  const Access access = view.readonly ? Access::kReadOnly : Access::kReadWrite;
  *bytes = {view.buf, view.len, access, {}};
  bytes->release = ReleaseBuffer(std::move(held));
  return true;
}

namespace {

// Whether the error that is set means that the object has no buffer now. NumPy's scalars of
// registered types (ml_dtypes' bfloat16) raise TypeError.
bool IsRefusal(PyObject* object) {
  if (PyErr_ExceptionMatches(PyExc_BufferError)) return true;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
  nanobind::error_scope in_flight;  // a lookup with an error set may take it for its own
  return numpy_scalar.IsBaseOf(Py_TYPE(object));
}

}  // namespace

bool ImportBuffer(PyObject* object, Tensor* tensor, bool* is_refused) {
  auto held = std::make_unique<HeldBuffer>();
  Py_buffer& view = held->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    if (is_refused != nullptr) *is_refused = IsRefusal(object);
    return false;
  }
  if (view.ndim == 1 && view.len == sizeof(int64_t) && IsNumPyTime(object)) {
    PyBuffer_Release(&view);
    return RaiseExchange(
               absl::StrCat("A ", Py_TYPE(object)->tp_name, " scalar ", kNumPyTimeRemedy)),
           false;
  }
  BufferLayout layout;
  const absl::Status status = DescribeBuffer({.data = view.buf,
                                              .nbytes = view.len,
                                              .itemsize = view.itemsize,
                                              .format = view.format,
                                              .ndim = view.ndim,
                                              .shape = view.shape,
                                              .strides = view.strides,
                                              .has_suboffsets = view.suboffsets != nullptr,
                                              .read_only = view.readonly != 0},
                                             &layout);
  if (!status.ok()) {
    PyBuffer_Release(&view);
    return RaiseExchange(status), false;
  }
  *tensor = AdoptBuffer(std::move(layout), Device::Cpu(), ReleaseBuffer(std::move(held)));
  return true;
}

namespace {

// What a borrowed tensor holds of a buffer.
struct BufferLoan {
  DLManagedTensorVersioned managed;  // its deleter alone is used
  Py_buffer view;
};

void EndLoan(void* context) {
  auto* const loan = static_cast<BufferLoan*>(context);
  PyBuffer_Release(&loan->view);
  delete loan;
}

void LetGoOfLoan(DLManagedTensorVersioned* managed) { LetGo(&EndLoan, managed->manager_ctx); }

// Fills `borrowed` with a buffer that has a shape and no strides. False if no tensor has those.
bool FillByBuffer(const Py_buffer& view, DovetailBorrowed* borrowed) {
  const absl::StatusOr<DType> dtype =
      DTypeFromFormat(view.format == nullptr ? kDefaultFormat : view.format, view.itemsize);
  if (!dtype.ok() || view.ndim > DOVETAIL_MAX_NDIM) return false;
  auto nbytes = static_cast<uint64_t>(view.itemsize);
  int64_t step = 1;
  for (int i = view.ndim - 1; i >= 0; --i) {
    borrowed->strides[i] = step;
    nbytes *= static_cast<uint64_t>(view.shape[i]);
    step = WrappingMultiply(step, view.shape[i] == 0 ? 1 : view.shape[i]);
  }
  const DLTensor lent = {.data = view.buf,
                         .device = {kDLCPU, 0},
                         .ndim = view.ndim,
                         .dtype = ToDLDataType(*dtype),
                         .shape = view.shape,
                         .strides = borrowed->strides,
                         .byte_offset = 0};
  const uint64_t flags = view.readonly != 0 ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return nbytes == static_cast<uint64_t>(view.len) && FillBorrowed(lent, flags, borrowed);
}

}  // namespace

ExchangeResult BorrowRowMajorBuffer(PyObject* object, DovetailBorrowed* borrowed) {
  auto loan = std::make_unique_for_overwrite<BufferLoan>();
  if (PyObject_GetBuffer(object, &loan->view, PyBUF_ND | PyBUF_FORMAT) != 0) {
    return ForgetException() ? ExchangeResult::kNotTaken : ExchangeResult::kError;
  }
  if (!FillByBuffer(loan->view, borrowed)) {
    PyBuffer_Release(&loan->view);
    return ExchangeResult::kNotTaken;
  }
  loan->managed.manager_ctx = loan.get();
  loan->managed.deleter = &LetGoOfLoan;
  borrowed->held = &loan.release()->managed;
  return ExchangeResult::kDone;
}

namespace {

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t), "shapes are handed out as they are");

// What a buffer of no elements points at: some consumers take no null pointer.
char no_elements[16];

bool Asks(int flags, int what) { return (flags & what) == what; }

bool IsColumnMajor(const Layout& layout) {
  if (layout.num_elements() == 0) return true;
  int64_t step = 1;
  for (int i = 0; i < layout.rank(); ++i) {
    if (layout.shape(i) == 1) continue;
    if (layout.stride(i) != step) return false;
    step *= layout.shape(i);
  }
  return true;
}

// Whether the consumer can follow the tensor's strides. A consumer that takes none needs row-major.
bool OrderSuits(const Layout& layout, int flags) {
  if (Asks(flags, PyBUF_ANY_CONTIGUOUS)) {
    return layout.is_contiguous() || IsColumnMajor(layout);
  }
  if (Asks(flags, PyBUF_F_CONTIGUOUS)) return IsColumnMajor(layout);
  if (Asks(flags, PyBUF_C_CONTIGUOUS) || !Asks(flags, PyBUF_STRIDES)) {
    return layout.is_contiguous();
  }
  return true;
}

// Whether the tensor goes out as the bytes that its elements lie in: they share them, and the
// consumer asks for no format.
bool GoesAsBytes(const Tensor& tensor, int flags) {
  return StepBits(tensor.dtype(), tensor.packing()) % 8 != 0 && tensor.is_contiguous() &&
         !Asks(flags, PyBUF_FORMAT);
}

// The format, where the consumer asks for one. Without one it takes the elements as bytes.
bool FindFormat(const Tensor& tensor, int flags, const char** format) {
  *format = nullptr;
  const bool whole_bytes = StepBits(tensor.dtype(), tensor.packing()) % 8 == 0;
  if (!Asks(flags, PyBUF_FORMAT) && (whole_bytes || GoesAsBytes(tensor, flags))) return true;
  absl::StatusOr<const char*> found = FormatFromDType(tensor.dtype());
  if (!found.ok()) return RaiseExchange(found.status()), false;
  *format = *found;
  return true;
}

// Shape and strides of a buffer.
struct Dimensions {
  int rank;
  const Py_ssize_t* shape;
  std::unique_ptr<Py_ssize_t[]> own;  // what of them the tensor itself does not hold
  Py_ssize_t* strides;
};

Dimensions DimensionsOf(const Tensor& tensor, int flags) {
  if (GoesAsBytes(tensor, flags)) {
    std::unique_ptr<Py_ssize_t[]> own(new Py_ssize_t[2]{tensor.nbytes(), 1});
    Py_ssize_t* const dims = own.get();
    return {1, dims, std::move(own), dims + 1};
  }
  const Layout& layout = tensor.layout();
  if (layout.rank() == 0) return {0, nullptr, nullptr, nullptr};
  std::unique_ptr<Py_ssize_t[]> own(new Py_ssize_t[layout.rank()]);
  FillByteStrides(layout, tensor.dtype().itemsize(), own.get());
  // The object holds the layout, and the view holds the object.
  Py_ssize_t* const strides = own.get();
  return {layout.rank(), layout.shape().data(), std::move(own), strides};
}

}  // namespace

void* AddressOf(const Tensor& tensor) {
  return tensor.num_elements() != 0 ? tensor.raw_data() : no_elements;
}

int ExportBuffer(const Tensor& tensor, PyObject* exporter, Py_buffer* view, int flags) {
  const Layout& layout = tensor.layout();
  if (!ReadyHost(tensor)) return -1;
  if (Asks(flags, PyBUF_WRITABLE) && tensor.is_read_only()) {
    RaiseExchange(
        "The tensor is read-only and a writable buffer was asked for; copy it first, as in "
        "t.copy().");
    return -1;
  }
  if (!OrderSuits(layout, flags)) {
    RaiseExchange(absl::StrCat("The tensor's strides ", ShapeToString(layout.strides()),
                               " are not what the consumer asks for; copy it first, as in "
                               "t.copy(), which is row-major."));
    return -1;
  }
  const char* format;
  if (!FindFormat(tensor, flags, &format)) return -1;
  Dimensions dims = DimensionsOf(tensor, flags);
  view->buf = AddressOf(tensor);
  view->len = tensor.nbytes();
  view->itemsize = tensor.dtype().itemsize();
  view->readonly = tensor.is_read_only();
  view->format = const_cast<char*>(format);
  view->ndim = Asks(flags, PyBUF_ND) ? dims.rank : 1;
  view->shape = Asks(flags, PyBUF_ND) ? const_cast<Py_ssize_t*>(dims.shape) : nullptr;
  view->strides = Asks(flags, PyBUF_STRIDES) ? dims.strides : nullptr;
  view->suboffsets = nullptr;
  view->internal = dims.own.release();
  view->obj = Py_NewRef(exporter);
  return 0;
}

void ReleaseExportedBuffer(Py_buffer* view) {
  delete[] static_cast<Py_ssize_t*>(view->internal);
  view->internal = nullptr;
}

}  // namespace dovetail::python
