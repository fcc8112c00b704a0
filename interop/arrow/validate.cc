#include "dovetail/interop/arrow/validate.h"

#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "dovetail/interop/arrow/dimensions.h"
#include "dovetail/interop/arrow/error.h"
#include "dovetail/interop/arrow/fixed_shape.h"
#include "dovetail/interop/arrow/format_table.h"
#include "dovetail/interop/arrow/nulls.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The buffers: validity bits, and the values of an array of numbers.
constexpr int64_t kListBuffers = 1, kValues = 1, kNumberBuffers = 2;

// A schema, its array, and the elements of the array that the tensor has: `count` from `first` on,
// counted from the start of the buffers.
struct Level {
  const ArrowSchema* schema;
  const ArrowArray* array;
  int64_t first;
  int64_t count;
};

absl::Status CheckStructs(const ArrowSchema& schema, const ArrowArray& array) {
  if (schema.release == nullptr || array.release == nullptr) {
    return ArrowError("it was already released or consumed; ask the producer for a new one");
  }
  if (schema.format == nullptr) return ArrowError("its schema has no format");
  if (schema.dictionary != nullptr || array.dictionary != nullptr) {
    return ArrowError(
        "it is dictionary-encoded; decode it first, as with pyarrow's "
        "a.dictionary_decode()");
  }
  return absl::OkStatus();
}

absl::Status BeyondError(const ArrowArray& array) {
  return ArrowError(absl::StrCat("its offset of ", array.offset, " and its length of ",
                                 array.length, " reach beyond the address space"));
}

// The length is not negative: Dimensions and ChildOf have seen it.
absl::Status CheckParts(const ArrowSchema& schema, const ArrowArray& array, bool is_list) {
  const int64_t children = is_list ? 1 : 0;
  const char* what = is_list ? "a list of a fixed size" : "a number type";
  for (const int64_t n : {schema.n_children, array.n_children}) {
    if (n == children) continue;
    return ArrowError(absl::StrCat("its format is ", what, ", but it has ", n, " children"));
  }
  if (is_list && (schema.children == nullptr || schema.children[0] == nullptr ||
                  array.children == nullptr || array.children[0] == nullptr)) {
    return ArrowError("it has a child that is NULL");
  }
  const int64_t buffers = is_list ? kListBuffers : kNumberBuffers;
  if (array.n_buffers != buffers || array.buffers == nullptr) {
    return ArrowError(absl::StrCat("it has ", array.buffers == nullptr ? 0 : array.n_buffers,
                                   " buffers, and an array of ", is_list ? "lists" : "numbers",
                                   " has ", buffers));
  }
  if (array.offset < 0) return ArrowError(absl::StrCat("its offset is ", array.offset));
  int64_t end;
  if (__builtin_add_overflow(array.offset, array.length, &end)) return BeyondError(array);
  return absl::OkStatus();
}

// The children of lists of `size` elements.
absl::StatusOr<Level> ChildOf(const Level& lists, int64_t size) {
  Level child = {lists.schema->children[0], lists.array->children[0]};
  if (absl::Status s = CheckStructs(*child.schema, *child.array); !s.ok()) return s;
  int64_t end;
  // Elements of the child are counted from its offset.
  if (__builtin_mul_overflow(lists.first, size, &child.first) ||
      __builtin_mul_overflow(lists.count, size, &child.count) ||
      __builtin_add_overflow(child.first, child.count, &end)) {
    return BeyondError(*lists.array);
  }
  if (end > child.array->length) {
    return ArrowError(absl::StrCat("its lists have ", end, " elements, and the array of these ",
                                   child.array->length));
  }
  if (__builtin_add_overflow(child.first, child.array->offset, &child.first)) {
    return BeyondError(*child.array);
  }
  return child;
}

// Finds the bytes that the elements occupy.
absl::Status Locate(const Level& numbers, Device device, CheckedArrow* out) {
  const int64_t itemsize = out->dtype.itemsize();
  const auto data = reinterpret_cast<uintptr_t>(numbers.array->buffers[kValues]);
  int64_t begin, end;
  uintptr_t last;
  if (__builtin_add_overflow(numbers.first, numbers.count, &end) ||
      __builtin_mul_overflow(end, itemsize, &end) ||
      (IsAddressable(device.type) && __builtin_add_overflow(data, end, &last))) {
    return BeyondError(*numbers.array);
  }
  begin = numbers.first * itemsize;
  out->nbytes = end - begin;
  if (!IsAddressable(device.type)) {
    out->data = reinterpret_cast<void*>(data);
    out->byte_offset = begin;
    return absl::OkStatus();
  }
  if (data == 0 && numbers.count != 0) return ArrowError("it has elements but no values (NULL)");
  out->data = data == 0 ? nullptr : reinterpret_cast<void*>(data + begin);
  return absl::OkStatus();
}

// Adds the dimensions of a list, or of the tensor that its type says it is.
absl::Status AddDimensions(const ArrowSchema& schema, std::optional<int64_t> list_size,
                           Dimensions* dimensions) {
  absl::StatusOr<std::optional<FixedShape>> shape = FixedShapeOf(schema);
  if (!shape.ok()) return shape.status();
  if (*shape) return dimensions->AddTensor(**shape, list_size);
  if (list_size) return dimensions->Add(*list_size);
  return absl::OkStatus();
}

absl::Status ValidateNumbers(const Level& numbers, Device device, const Dimensions& dimensions,
                             CheckedArrow* checked) {
  absl::StatusOr<DType> dtype = DTypeFromArrow(numbers.schema->format);
  if (!dtype.ok()) return dtype.status();
  checked->dtype = *dtype;
  if (absl::Status s = CheckParts(*numbers.schema, *numbers.array, false); !s.ok()) return s;
  if (absl::Status s = Locate(numbers, device, checked); !s.ok()) return s;
  return dimensions.Assign(&checked->layout);
}

}  // namespace

absl::Status ValidateArrow(const ArrowSchema& schema, const ArrowArray& array, Device device,
                           CheckedArrow* checked) {
  if (absl::Status s = CheckStructs(schema, array); !s.ok()) return s;
  Level level = {&schema, &array, array.offset, array.length};
  Dimensions dimensions;
  if (absl::Status s = dimensions.Add(array.length); !s.ok()) return s;
  while (true) {
    const std::optional<int64_t> list_size = FixedListSize(level.schema->format);
    if (absl::Status s = AddDimensions(*level.schema, list_size, &dimensions); !s.ok()) return s;
    absl::Status s = list_size ? CheckParts(*level.schema, *level.array, /*is_list=*/true)
                               : ValidateNumbers(level, device, dimensions, checked);
    if (s.ok()) s = CheckNoNulls(*level.array, level.first, level.count, device);
    if (!s.ok() || !list_size) return s;
    absl::StatusOr<Level> child = ChildOf(level, *list_size);
    if (!child.ok()) return child.status();
    level = *child;
  }
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
