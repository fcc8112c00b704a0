// The text of an Arg's type in docstrings and stubs:
//   typing.Annotated[typing.Any, "float32[n, 3], C-contiguous, writable"]

#ifndef DOVETAIL_PYTHON_CASTERS_SIGNATURE_H_
#define DOVETAIL_PYTHON_CASTERS_SIGNATURE_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/core/freestanding/type_names.h"
#include "dovetail/python/arg_requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

struct Text {
  char letters[1024] = {};
  size_t size = 0;

  constexpr Text() = default;
  constexpr explicit Text(const char* words) { Put(words); }
  friend constexpr Text operator+(Text text, const char* words) {
    text.Put(words);
    return text;
  }
  friend constexpr Text operator+(Text text, const Text& more) {
    for (size_t i = 0; i < more.size; ++i) text.Put(more.letters[i]);
    return text;
  }
  constexpr void Put(char letter) {
    if (size < sizeof(letters)) letters[size++] = letter;
  }
  constexpr void Put(const char* words) {
    for (; *words != '\0'; ++words) Put(*words);
  }
  constexpr void PutNumber(int64_t number) {
    if (number >= 10) PutNumber(number / 10);
    Put(static_cast<char>('0' + number % 10));
  }
  // A size (capi.h). `longer` is the name of which it has a hash, or empty.
  constexpr void PutSize(int64_t wanted, const char* longer) {
    if (wanted >= 0) return PutNumber(wanted);
    if (wanted == DOVETAIL_ANY_SIZE) return Put('*');
    const int64_t number = -1 - wanted;
    if (const int64_t multiple = (number >> 56) + 1; multiple != 1) {
      PutNumber(multiple);
      Put('*');
    }
    if (*longer != '\0') return Put(longer);
    const int64_t letters_of_name = number % (int64_t{1} << 56);
    for (int64_t rest = letters_of_name; rest != 0; rest /= 256) Put(static_cast<char>(rest % 256));
  }
};

// "float32"; the kind and the bits of what is not in the list of types. Without lanes.
constexpr void PutType(DLDataType dtype, Text* text) {
  if (dtype.bits == 0) return text->Put("any");
  const char* const name = internal_dtype::NameOf(dtype.code, dtype.bits);
  if (name != nullptr) return text->Put(name);
  text->Put(internal_dtype::KindNameOf(dtype.code));
  text->PutNumber(dtype.bits);
}

constexpr void PutTypes(const DovetailRequirements& wanted, Text* text) {
  if ((wanted.flags & DOVETAIL_ONE_OF) == 0) return PutType(wanted.dtype, text);
  for (int32_t i = 0; i < wanted.num_types; ++i) {
    if (i > 0) text->Put('|');
    PutType(wanted.types[i], text);
  }
}

template <typename Facts>
constexpr void PutShape(Text* text) {
  if (Facts::kNamedRank < 0) return text->Put("[...]");
  text->Put('[');
  if (Facts::Sizes::kLead != 0) {
    text->PutSize(Facts::Sizes::kLead, Facts::Sizes::kLeadName);
  } else if (Facts::kHasLead) {
    text->Put("...");
  }
  for (int i = 0; i < Facts::kNamedRank; ++i) {
    if (i > 0 || Facts::kHasLead) text->Put(", ");
    const int64_t size = Facts::Sizes::kIsThere ? Facts::Sizes::kArray[i] : DOVETAIL_ANY_SIZE;
    text->PutSize(size, Facts::Sizes::kHasLongNames ? Facts::Sizes::kLongNames[i] : "");
  }
  text->Put(']');
}

constexpr void PutDevice(int32_t device, Text* text) {
  switch (device) {
    case DOVETAIL_HOST_MEMORY:
      return;
    case DOVETAIL_ANY_DEVICE:
      return text->Put(", any device");
    case kDLCPU:
      return text->Put(", cpu");
    case kDLCUDA:
      return text->Put(", cuda");
    case kDLROCM:
      return text->Put(", rocm");
    default:
      text->Put(", DLPack device ");
      text->PutNumber(device);
  }
}

template <typename Facts>
constexpr Text Describe() {
  constexpr DovetailRequirements kWanted = Facts::kRequirements;
  Text text;
  text.Put("typing.Annotated[typing.Any, \"");
  PutTypes(kWanted, &text);
  PutShape<Facts>(&text);
  if ((kWanted.flags & DOVETAIL_C_CONTIGUOUS) != 0) text.Put(", C-contiguous");
  if ((kWanted.flags & DOVETAIL_F_CONTIGUOUS) != 0) text.Put(", F-contiguous");
  if ((kWanted.flags & DOVETAIL_INNER_CONTIGUOUS) != 0) text.Put(", inner-contiguous");
  PutDevice(kWanted.device_type, &text);
  if ((kWanted.flags & DOVETAIL_WRITABLE) != 0) text.Put(", writable");
  text.Put("\"]");
  return text;
}

template <typename Facts>
struct Signature {
  static constexpr Text kText = Describe<Facts>();
};

}  // namespace internal_arg
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_CASTERS_SIGNATURE_H_
