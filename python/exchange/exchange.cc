#include "dovetail/python/exchange/exchange.h"

#include <cstring>

#include "dovetail/interop/dlpack/device_table.h"
#include "dovetail/interop/dlpack/type_table.h"
#include "dovetail/python/exchange/base/error.h"
#include "dovetail/python/exchange/base/owner.h"
#include "dovetail/python/exchange/protocols/dlpack_out.h"
#include "dovetail/python/exchange/routes/borrow_object.h"
#include "dovetail/python/exchange/routes/current_stream.h"
#include "dovetail/python/exchange/routes/import_object.h"
#include "dovetail/python/exchange/routes/result.h"

namespace dovetail::python {
namespace {

// A Status with the message of the Python error, which stays set.
absl::Status StatusOfError() { return absl::InvalidArgumentError(MessageOfError()); }

}  // namespace

bool FromPython(PyObject* object, Tensor* tensor) {
  DrainPendingReleases();
  return ImportAny(object, {}, tensor);
}

absl::StatusOr<Tensor> FromPython(PyObject* object) {
  absl::StatusOr<Tensor> tensor{Tensor()};
  if (!FromPython(object, &*tensor)) return StatusOfError();
  return tensor;
}

BorrowedTensor& BorrowedTensor::operator=(BorrowedTensor&& other) noexcept {
  if (this != &other) {
    Dovetail_Release(&borrowed_);
    MoveFrom(other);
  }
  return *this;
}

void BorrowedTensor::MoveFrom(BorrowedTensor& other) {
  const DovetailBorrowed& from = other.borrowed_;
  borrowed_.tensor = from.tensor;
  borrowed_.tensor.shape = borrowed_.shape;
  borrowed_.tensor.strides = borrowed_.strides;
  borrowed_.flags = from.flags;
  borrowed_.object = from.object;
  borrowed_.stream = from.stream;
  borrowed_.held = from.held;
  const size_t nbytes = sizeof(int64_t) * static_cast<size_t>(from.tensor.ndim);
  std::memcpy(borrowed_.shape, from.shape, nbytes);
  std::memcpy(borrowed_.strides, from.strides, nbytes);
  other.borrowed_.held = nullptr;
}

TensorView BorrowedTensor::view() const {
  const DLTensor& t = borrowed_.tensor;
  const auto rank = static_cast<size_t>(t.ndim);
  const DType dtype = ToDType(t.dtype);
  const bool is_padded = (borrowed_.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0;
  return {.data = t.data,
          .byte_offset = static_cast<int64_t>(t.byte_offset),
          .device = ToDevice(t.device),
          .dtype = dtype,
          .access = is_read_only() ? Access::kReadOnly : Access::kReadWrite,
          .packing = PackingOf(dtype, is_padded ? Packing::kPadded : Packing::kPacked),
          .shape = {t.shape, rank},
          .strides = {t.strides, rank}};
}

absl::StatusOr<BorrowedTensor> Borrow(PyObject* object, const Requirements& wanted, Call* call) {
  absl::StatusOr<BorrowedTensor> tensor{BorrowedTensor()};
  switch (BorrowObject(object, &wanted, call, &tensor->borrowed_)) {
    case 0:
      return tensor;
    case 1:
      return absl::UnknownError("The tensor does not meet the requirements.");
    default:
      return StatusOfError();
  }
}

PyObject* ToPython(const Tensor& tensor, PyObject* like) {
  DrainPendingReleases();
  return MakeLike(tensor, like);
}

absl::StatusOr<Stream> CurrentStream(PyObject* like, Device device) {
  void* stream;
  if (!FindCurrentStream(like, ToDLDevice(device), &stream)) return StatusOfError();
  return Stream::Borrow(device, NativeStream{reinterpret_cast<uintptr_t>(stream)});
}

PyObject* ToCapsule(const Tensor& tensor) { return ExportCapsule(tensor, {.is_versioned = true}); }

void SetErrors(PyObject* exchange, PyObject* stream) { SetExchangeErrors(exchange, stream); }

}  // namespace dovetail::python
