#include "dovetail/interop/arrow/validate.h"

#include <bit>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/format_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

constexpr int64_t kNotCounted = -1;
// The buffers of a primitive array.
constexpr int64_t kValidity = 0, kValues = 1, kBuffers = 2;

absl::Status Error(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("This Arrow array can't be imported: ", what, "."));
}

// The number of 0 bits in [begin, end) of a bitmap whose lowest bit comes first.
int64_t CountUnset(const uint8_t* bits, int64_t begin, int64_t end) {
  int64_t set = 0, i = begin;
  for (; i < end && i % 8 != 0; ++i) set += bits[i / 8] >> (i % 8) & 1;
  for (; i + 8 <= end; i += 8) set += std::popcount(bits[i / 8]);
  for (; i < end; ++i) set += bits[i / 8] >> (i % 8) & 1;
  return end - begin - set;
}

absl::Status CheckNoNulls(const ArrowArray& array, Device device) {
  int64_t nulls = array.null_count;
  if (nulls < kNotCounted || nulls > array.length) {
    return Error(absl::StrCat("its null count is ", nulls, ", with ", array.length, " elements"));
  }
  const void* validity = array.buffers[kValidity];
  if (nulls == kNotCounted && (validity == nullptr || array.length == 0)) return absl::OkStatus();
  if (nulls == kNotCounted) {
    if (!IsHostAccessible(device.type)) {
      return Error(absl::StrCat("its nulls are not counted, and the host can't count them on ",
                                device.ToString(), "; let the producer do that first"));
    }
    nulls = CountUnset(static_cast<const uint8_t*>(validity), array.offset,
                       array.offset + array.length);
  }
  if (nulls == 0) return absl::OkStatus();
  return Error(absl::StrCat(nulls, " of its ", array.length,
                            " elements are null, which tensors do not support; fill them first, as "
                            "with pyarrow's a.fill_null(0), or drop them with a.drop_null()"));
}

absl::Status CheckStructs(const ArrowSchema& schema, const ArrowArray& array) {
  if (schema.release == nullptr || array.release == nullptr) {
    return Error("it was already released or consumed; ask the producer for a new one");
  }
  if (schema.format == nullptr) return Error("its schema has no format");
  if (schema.dictionary != nullptr || array.dictionary != nullptr) {
    return Error(
        "it is dictionary-encoded; decode it first, as with pyarrow's "
        "a.dictionary_decode()");
  }
  return absl::OkStatus();
}

absl::Status CheckParts(const ArrowSchema& schema, const ArrowArray& array) {
  if (schema.n_children != 0 || array.n_children != 0) {
    return Error(absl::StrCat("its format is a number type, but it has ",
                              schema.n_children != 0 ? schema.n_children : array.n_children,
                              " children"));
  }
  if (array.n_buffers != kBuffers || array.buffers == nullptr) {
    return Error(absl::StrCat("it has ", array.buffers == nullptr ? 0 : array.n_buffers,
                              " buffers, and an array of numbers has ", kBuffers));
  }
  if (array.length < 0 || array.offset < 0) {
    return Error(absl::StrCat("its length is ", array.length, " and its offset ", array.offset));
  }
  return absl::OkStatus();
}

// Finds the bytes that the elements occupy.
absl::Status Locate(const ArrowArray& array, Device device, CheckedArrow* out) {
  const int64_t itemsize = out->dtype.itemsize();
  const auto data = reinterpret_cast<uintptr_t>(array.buffers[kValues]);
  int64_t begin, end;
  uintptr_t last;
  if (__builtin_add_overflow(array.offset, array.length, &end) ||
      __builtin_mul_overflow(end, itemsize, &end) ||
      (IsAddressable(device.type) && __builtin_add_overflow(data, end, &last))) {
    return Error(absl::StrCat("its offset of ", array.offset, " and its length of ", array.length,
                              " reach beyond the address space"));
  }
  begin = array.offset * itemsize;
  out->length = array.length;
  out->nbytes = end - begin;
  if (!IsAddressable(device.type)) {
    out->data = reinterpret_cast<void*>(data);
    out->byte_offset = begin;
    return absl::OkStatus();
  }
  if (data == 0 && array.length != 0) return Error("it has elements but no values (NULL)");
  out->data = data == 0 ? nullptr : reinterpret_cast<void*>(data + begin);
  return absl::OkStatus();
}

}  // namespace

absl::Status ValidateArrow(const ArrowSchema& schema, const ArrowArray& array, Device device,
                           CheckedArrow* checked) {
  CheckedArrow out;
  if (absl::Status s = CheckStructs(schema, array); !s.ok()) return s;
  absl::StatusOr<DType> dtype = DTypeFromArrow(schema.format);
  if (!dtype.ok()) return dtype.status();
  out.dtype = *dtype;
  if (absl::Status s = CheckParts(schema, array); !s.ok()) return s;
  if (absl::Status s = Locate(array, device, &out); !s.ok()) return s;
  if (absl::Status s = CheckNoNulls(array, device); !s.ok()) return s;
  *checked = out;
  return absl::OkStatus();
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
