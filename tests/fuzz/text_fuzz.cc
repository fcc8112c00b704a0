// Formats of buffers (PEP 3118), type strings of arrays and names of types, and the descriptions of
// memory that have them. What is read is written again and read as the same; no layout reaches
// beyond the memory that it was given.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "dovetail/core/dtype.h"
#include "dovetail/core/tensor.h"
#include "dovetail/interop/array_interface/describe.h"
#include "dovetail/interop/array_interface/typestr.h"
#include "dovetail/interop/buffer/format.h"
#include "dovetail/interop/buffer/import.h"
#include "dovetail/tests/fuzz/input.h"
#include "dovetail/tests/fuzz/require.h"

namespace dovetail::fuzz {
namespace {

std::array<char, 4096> memory;

void TryFormat(Input& input) {
  const int64_t itemsize = input.Number();
  const std::string_view text = input.Rest();
  const absl::StatusOr<DType> type = DTypeFromFormat(text, itemsize);
  if (!type.ok()) return;
  Require(type->itemsize() == itemsize, "a format has the size that was given", text, *type);
  const absl::StatusOr<const char*> format = FormatFromDType(*type);
  Require(format.ok(), "a type that was read is written", text, format.status());
  const absl::StatusOr<DType> again = DTypeFromFormat(*format, itemsize);
  Require(again.ok() && *again == *type, "what is written is read as the same", text, *format);
}

void TryTypestr(Input& input) {
  const std::string_view text = input.Rest();
  const absl::StatusOr<DType> type = DTypeFromTypestr(text);
  if (!type.ok()) return;
  const absl::StatusOr<std::string> written = TypestrFromDType(*type);
  Require(written.ok(), "a type that was read is written", text, written.status());
  const absl::StatusOr<DType> again = DTypeFromTypestr(*written);
  Require(again.ok() && *again == *type, "what is written is read as the same", text, *written);
}

void TryName(Input& input) {
  const std::string_view text = input.Rest();
  const absl::StatusOr<DType> type = DType::Parse(text);
  if (!type.ok()) return;
  Require(type->is_known(), "a type that is parsed is known", text);
  const absl::StatusOr<DType> again = DType::Parse(type->ToString());
  Require(again.ok() && *again == *type, "a printed type is parsed as the same", text, *type);
}

std::vector<int64_t> Numbers(Input& input, size_t count) {
  std::vector<int64_t> numbers(count);
  for (int64_t& number : numbers) number = input.OneIn(4) ? input.Number() : input.Between(-4, 12);
  return numbers;
}

// Makes the tensor, and requires that all elements lie in [data, data + nbytes).
void Adopt(BufferLayout&& layout) {
  const char* lowest = static_cast<const char*>(layout.data);
  const int64_t nbytes = static_cast<int64_t>(layout.nbytes);
  const Tensor tensor = AdoptBuffer(std::move(layout), Device::Cpu(), {});
  if (tensor.num_elements() == 0) return;
  const Extent extent = tensor.layout().extent();
  const auto first = static_cast<const char*>(tensor.raw_data()) - lowest;
  const int64_t itemsize = tensor.dtype().itemsize();
  Require(first + extent.lowest * itemsize == 0, "the lowest element is at the lowest byte",
          tensor);
  Require(first + (extent.highest + 1) * itemsize == nbytes,
          "the highest element is at the highest byte", tensor);
}

void TryBuffer(Input& input) {
  const auto rank = static_cast<size_t>(input.Between(0, 4));
  const std::vector<int64_t> shape = Numbers(input, rank), strides = Numbers(input, rank);
  BufferDescription buffer = {.data = input.OneIn(8) ? nullptr : memory.data() + 2048,
                              .nbytes = input.Number(),
                              .itemsize = input.OneIn(8) ? input.Number() : input.Between(1, 8),
                              .ndim = static_cast<int>(rank),
                              .shape = input.OneIn(8) ? nullptr : shape.data(),
                              .strides = input.OneIn(3) ? strides.data() : nullptr,
                              .has_suboffsets = input.OneIn(16),
                              .read_only = input.OneIn(2)};
  if (input.OneIn(16)) buffer.ndim = static_cast<int>(input.Between(-1, 0));
  if (!input.OneIn(8)) {  // the size that the shape has
    buffer.nbytes = buffer.itemsize;
    for (int64_t size : shape) {
      if (__builtin_mul_overflow(buffer.nbytes, size, &buffer.nbytes)) buffer.nbytes = 0;
    }
  }
  const std::string format(input.Rest());
  if (format != "-") buffer.format = format.c_str();
  BufferLayout out;
  const absl::Status status = DescribeBuffer(buffer, &out);
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status), "a refusal is InvalidArgument", status);
    return;
  }
  Require(out.layout.num_elements() == 0 || buffer.data != nullptr, "elements have memory");
  Adopt(std::move(out));
}

void TryArray(Input& input) {
  const auto rank = static_cast<size_t>(input.Between(0, 4));
  const std::vector<int64_t> shape = Numbers(input, rank);
  const std::vector<int64_t> strides = Numbers(input, input.OneIn(8) ? 2 : rank);
  ArrayDescription array = {
      .shape = shape,
      .data = input.OneIn(8) ? nullptr : memory.data() + input.Between(0, 4096),
      .read_only = input.OneIn(2),
      .has_mask = input.OneIn(16)};
  if (input.OneIn(2)) array.strides = strides;
  const bool within = input.OneIn(2);
  if (within) array.within = absl::MakeConstSpan(memory);
  array.typestr = input.Rest();
  BufferLayout out;
  const absl::Status status = DescribeArray(array, &out);
  if (!status.ok()) {
    Require(absl::IsInvalidArgument(status), "a refusal is InvalidArgument", status);
    return;
  }
  if (within && out.layout.num_elements() != 0) {
    const auto* lowest = static_cast<const char*>(out.data);
    Require(lowest >= memory.data() && out.nbytes <= memory.size() &&
                lowest - memory.data() <= static_cast<int64_t>(memory.size() - out.nbytes),
            "all elements lie in the buffer", out.layout);
  }
  Adopt(std::move(out));
}

}  // namespace
}  // namespace dovetail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  dovetail::fuzz::Input input(data, size);
  switch (input.Between(0, 4)) {
    case 0:
      dovetail::fuzz::TryFormat(input);
      break;
    case 1:
      dovetail::fuzz::TryTypestr(input);
      break;
    case 2:
      dovetail::fuzz::TryName(input);
      break;
    case 3:
      dovetail::fuzz::TryBuffer(input);
      break;
    default:
      dovetail::fuzz::TryArray(input);
  }
  return 0;
}
