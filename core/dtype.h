// DType: the type of a tensor's elements. A kind of number, its width in bits, and lanes.
//
//   DType t = kFloat32;
//   t.ToString()                     // "float32"
//   DType::Parse("float8_e4m3fn")    // the OCP 8-bit type
//   dtype_of<int64_t>                // kInt64
//   t.itemsize()                     // 4 bytes
//
// Only the pairs of kind and width in dtype_list.inc exist; Make and Parse refuse others. A type
// with several lanes is a vector type of DLPack; it prints as in "float32x4".

#ifndef DOVETAIL_CORE_DTYPE_H_
#define DOVETAIL_CORE_DTYPE_H_

#include <bit>
#include <complex>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dovetail/core/config.h"
#include "dovetail/core/freestanding/type_widths.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

enum class TypeKind : uint8_t {
#define DOVETAIL_TYPE_KIND(id, code, name, dlpack) id = code,
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_TYPE_KIND
};

struct DType {
  TypeKind kind = TypeKind::kFloat;
  uint8_t bits = 32;   // of one lane
  uint16_t lanes = 1;  // at least 1

  // InvalidArgument if (kind, bits) is not in the list or lanes is 0.
  static absl::StatusOr<DType> Make(TypeKind kind, int bits, int lanes = 1);
  // Reads what ToString writes, and lanes as PyTorch spells them: "float4_e2m1fn_x2".
  static absl::StatusOr<DType> Parse(std::string_view text);

  std::string ToString() const;

  // Bits of one element, all lanes together.
  constexpr int element_bits() const { return bits * lanes; }
  // Bytes of one element, rounded up to whole bytes for sub-byte types.
  constexpr int64_t itemsize() const { return (element_bits() + 7) / 8; }
  // Whether an element does not fill whole bytes, so that elements may share a byte. A float4 with
  // two lanes fills a byte and is not a sub-byte type in this sense.
  constexpr bool is_sub_byte() const { return element_bits() % 8 != 0; }
  // Whether an element is a pair of a real and an imaginary part, and the type of a part.
  constexpr bool is_complex() const {
    return kind == TypeKind::kComplex || kind == TypeKind::kBComplex;
  }
  constexpr DType part() const {
    const TypeKind real = kind == TypeKind::kBComplex ? TypeKind::kBFloat : TypeKind::kFloat;
    return is_complex() ? DType{real, static_cast<uint8_t>(bits / 2), lanes} : *this;
  }
  // Whether (kind, bits) is in the list and lanes is not 0. False only for a DType that was not
  // made by Make, Parse or from the constants below.
  constexpr bool is_known() const {
    return internal_dtype::IsKnownType(static_cast<uint8_t>(kind), bits, lanes);
  }

  friend constexpr bool operator==(DType, DType) = default;
  template <typename H>
  friend H AbslHashValue(H h, DType t) {
    return H::combine(std::move(h), t.kind, t.bits, t.lanes);
  }
  template <typename Sink>
  friend void AbslStringify(Sink& sink, DType t) {
    sink.Append(t.ToString());
  }
  friend std::ostream& operator<<(std::ostream& os, DType t) { return os << t.ToString(); }
};
static_assert(sizeof(DType) == 4 && std::is_trivially_copyable_v<DType>);

// kBool, kInt8, …, kFloat4E2M1Fn.
#define DOVETAIL_DTYPE(id, type_kind, type_bits, name) \
  DOVETAIL_NOT_SHARED inline constexpr DType k##id{TypeKind::type_kind, type_bits, 1};
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE

// All types of one lane, in the order of the list.
DOVETAIL_NOT_SHARED inline constexpr DType kAllDTypes[] = {
#define DOVETAIL_DTYPE(id, kind, bits, name) k##id,
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_DTYPE
};

// The DType of a C++ type of the same size. core/freestanding/narrow_floats.h has types for
// float16, bfloat16 and float8. A program that has its own adds
//   template <> struct dovetail::DTypeTraits<Eigen::bfloat16> {
//     static constexpr dovetail::DType dtype = dovetail::kBFloat16;
//   };
template <typename T>
struct DTypeTraits;
#define DOVETAIL_CPP_TYPE(type, id)       \
  template <>                             \
  struct DTypeTraits<type> {              \
    static constexpr DType dtype = k##id; \
  };
#include "dovetail/core/internal/dtype_list.inc"
#undef DOVETAIL_CPP_TYPE
template <internal_dtype::TypeCode kCode, int kBits>
struct DTypeTraits<NarrowFloat<kCode, kBits>> {
  static constexpr DType dtype{static_cast<TypeKind>(kCode), kBits, 1};
};

// int64_t and uint64_t are `long` or `long long`. These specialisations are for the other one of
// the two.
template <typename T>
  requires((std::is_same_v<T, long> || std::is_same_v<T, long long>) &&
           !std::is_same_v<T, int64_t> && sizeof(T) == 8)
struct DTypeTraits<T> : DTypeTraits<int64_t> {};
template <typename T>
  requires((std::is_same_v<T, unsigned long> || std::is_same_v<T, unsigned long long>) &&
           !std::is_same_v<T, uint64_t> && sizeof(T) == 8)
struct DTypeTraits<T> : DTypeTraits<uint64_t> {};

namespace internal_dtype {

template <typename T>
constexpr DType Of() {
  constexpr bool kHasTraits = requires { DTypeTraits<T>::dtype; };
  static_assert(
      kHasTraits,
      "T is not an element type. It may be bool, a signed or unsigned integer of 8 to "
      "64 bits, float, double, a std::complex of these, void*, a type of narrow_floats.h, "
      "or a type for which the program specialises dovetail::DTypeTraits.");
  if constexpr (kHasTraits) {
    constexpr DType kType = DTypeTraits<T>::dtype;
    static_assert(size_t{kType.bits} * kType.lanes == 8 * sizeof(T),
                  "DTypeTraits<T>::dtype has another size than T. Elements of less than a byte "
                  "need a T of several: kInt4 with 2 lanes is two in a byte.");
    return kType;
  }
}

}  // namespace internal_dtype

template <typename T>
DOVETAIL_NOT_SHARED inline constexpr DType dtype_of = internal_dtype::Of<std::remove_cv_t<T>>();

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_CORE_DTYPE_H_
