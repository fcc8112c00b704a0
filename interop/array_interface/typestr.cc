#include "dovetail/interop/array_interface/typestr.h"

#include <bit>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dovetail/interop/pair_table.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

struct TypeCode {
  std::string_view code;  // without the byte order
  DType dtype;
};

constexpr TypeCode kCodes[] = {
    {"b1", kBool},    {"i1", kInt8},    {"i2", kInt16},     {"i4", kInt32},       {"i8", kInt64},
    {"u1", kUInt8},   {"u2", kUInt16},  {"u4", kUInt32},    {"u8", kUInt64},      {"f2", kFloat16},
    {"f4", kFloat32}, {"f8", kFloat64}, {"c8", kComplex64}, {"c16", kComplex128},
};

static_assert(internal_interop::IsBijection(kCodes, &TypeCode::code, &TypeCode::dtype));

// The error message for an unsupported code, found by the code's first letter.
struct Refusal {
  std::string_view kinds;
  std::string_view advice;
};
constexpr Refusal kRefusals[] = {
    {"f", "is a floating-point type that tensors can't hold; convert to float64 first"},
    {"c", "is a complex type that tensors can't hold; convert to complex128 first"},
    {"O", "holds Python objects; convert to an array of numbers first"},
    {"SaU", "holds text; only numbers can be shared"},
    {"mM", "holds dates or times; view them as int64 first"},
    {"V",
     "holds structs or types of another library; pass one of the fields, or view the elements "
     "as unsigned integers first"},
    {"t", "holds single bits; unpack them first"},
};

absl::Status Error(std::string_view typestr, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("The type string \"", typestr, "\" ", what, "."));
}

constexpr bool kLittle = std::endian::native == std::endian::little;
constexpr char kNativeOrder = kLittle ? '<' : '>';

}  // namespace

absl::StatusOr<DType> DTypeFromTypestr(std::string_view typestr) {
  constexpr std::string_view kOrders = "<>|=";
  if (typestr.size() < 3 || kOrders.find(typestr[0]) == kOrders.npos) {
    return Error(typestr, "is malformed; expected a byte order, a kind and a size, as in \"<f4\"");
  }
  const char order = typestr[0];
  const std::string_view code = typestr.substr(1);
  for (const TypeCode& c : kCodes) {
    if (c.code != code) continue;
    if (c.dtype.itemsize() > 1 && order == (kLittle ? '>' : '<')) {
      return Error(typestr,
                   "is in the byte order that is not this machine's; convert it first, as "
                   "with numpy's a.astype(a.dtype.newbyteorder(\"=\"))");
    }
    return c.dtype;
  }
  for (const Refusal& r : kRefusals) {
    if (r.kinds.find(code[0]) != r.kinds.npos) return Error(typestr, r.advice);
  }
  return Error(typestr, "is unknown; only numbers of 1 to 16 bytes can be shared");
}

absl::StatusOr<std::string> TypestrFromDType(DType dtype) {
  for (const TypeCode& c : kCodes) {
    if (c.dtype != dtype) continue;
    const char order = dtype.itemsize() == 1 ? '|' : kNativeOrder;
    return absl::StrCat(std::string_view(&order, 1), c.code);
  }
  return absl::InvalidArgumentError(absl::StrCat("There is no type string for ", dtype.ToString(),
                                                 "; exchange it over DLPack instead."));
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
