#include "dovetail/interop/arrow/format_table.h"

#include <charconv>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "dovetail/interop/pair_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct ArrowFormat {
  const char* format;
  DType dtype;
};

constexpr ArrowFormat kFormats[] = {
    {"c", kInt8},    {"C", kUInt8},   {"s", kInt16},   {"S", kUInt16},
    {"i", kInt32},   {"I", kUInt32},  {"l", kInt64},   {"L", kUInt64},
    {"e", kFloat16}, {"f", kFloat32}, {"g", kFloat64},
};

static_assert(internal_interop::IsBijection(
    kFormats, [](const ArrowFormat& f) { return std::string_view(f.format); },
    &ArrowFormat::dtype));

// Error messages for unsupported formats, by prefix. Longer prefixes come first.
struct Refusal {
  std::string_view beginning;
  std::string_view advice;
};
constexpr std::string_view kListsOfAnySize =
    "holds lists of any size; cast to lists of one size first, as with pyarrow's "
    "a.cast(pa.list_(a.type.value_type, n)), or pass a.flatten()";
constexpr Refusal kRefusals[] = {
    {"+w", "is no list of a fixed size: a number of 0 or more follows the colon"},
    {"+l", kListsOfAnySize},
    {"+L", kListsOfAnySize},
    {"+s",
     "holds several fields; pass one of them, as with pyarrow's a.field(i) or a table's "
     "column(i)"},
    {"+", "is nested; pass one of its children, as with pyarrow's a.field(i) or a.flatten()"},
    {"td", "holds dates; view them as integers first, as with pyarrow's a.view(pa.int64())"},
    {"t", "holds times; view them as integers first, as with pyarrow's a.view(pa.int64())"},
    {"d:", "holds decimals; cast to float64 first"},
    {"w:", "holds bytes of a fixed size; only numbers can be shared"},
    {"b",
     "holds booleans as single bits; cast to uint8 first, as with pyarrow's "
     "a.cast(pa.uint8())"},
    {"n", "holds nothing but nulls"},
    {"u", "holds text; only numbers can be shared"},
    {"U", "holds text; only numbers can be shared"},
    {"z", "holds byte strings; only numbers can be shared"},
    {"Z", "holds byte strings; only numbers can be shared"},
    {"v", "holds text or byte strings; only numbers can be shared"},
};

absl::Status Error(std::string_view format, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("The Arrow format \"", format, "\" ", what, "."));
}

}  // namespace

absl::StatusOr<DType> DTypeFromArrow(std::string_view format) {
  for (const ArrowFormat& f : kFormats) {
    if (format == f.format) return f.dtype;
  }
  for (const Refusal& r : kRefusals) {
    if (absl::StartsWith(format, r.beginning)) return Error(format, r.advice);
  }
  return Error(format, "is unknown");
}

std::optional<int64_t> FixedListSize(std::string_view format) {
  if (!absl::ConsumePrefix(&format, "+w:")) return std::nullopt;
  // Digits alone: SimpleAtoi would also take blanks and a sign.
  uint64_t size = 0;
  const char* const begin = format.data();
  const char* const end = begin + format.size();
  const std::from_chars_result read = std::from_chars(begin, end, size);
  if (read.ec != std::errc() || read.ptr != end || size > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(size);
}

absl::StatusOr<const char*> ArrowFromDType(DType dtype) {
  for (const ArrowFormat& f : kFormats) {
    if (dtype == f.dtype) return f.format;
  }
  if (dtype == kBool) {
    return absl::InvalidArgumentError(
        "Arrow holds booleans as single bits, and tensors as bytes; convert to uint8 first.");
  }
  return absl::InvalidArgumentError(absl::StrCat("Arrow has no arrays of ", dtype.ToString(),
                                                 "; convert to a type that it has, or exchange "
                                                 "over DLPack."));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
