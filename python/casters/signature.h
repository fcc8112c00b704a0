// The text of an Arg's type in docstrings and stubs:
//   typing.Annotated[typing.Any, "float32[n, 3], C-contiguous, writable"]

#ifndef DOVETAIL_PYTHON_CASTERS_SIGNATURE_H_
#define DOVETAIL_PYTHON_CASTERS_SIGNATURE_H_

#include <cstddef>
#include <cstdint>

#include "dovetail/python/arg_requirements.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_arg {

struct Text {
  char letters[512] = {};
  size_t size = 0;

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
  constexpr void PutName(int64_t name) {
    for (int64_t rest = -1 - name; rest != 0; rest /= 256) Put(static_cast<char>(rest % 256));
  }
};

constexpr const char* KindName(DLDataType dtype) {
  switch (dtype.code) {
    case kDLInt:
      return "int";
    case kDLUInt:
      return "uint";
    case kDLFloat:
      return "float";
    case kDLBfloat:
      return "bfloat";
    case kDLComplex:
      return "complex";
    case kDLBool:
      return "bool";
    default:
      return "element";
  }
}

constexpr void PutType(DLDataType dtype, Text* text) {
  if (dtype.bits == 0) return text->Put("any");
  text->Put(KindName(dtype));
  if (dtype.code != kDLBool) text->PutNumber(dtype.bits);
}

template <typename Facts>
constexpr void PutShape(Text* text) {
  if (Facts::kRank < 0) return text->Put("[...]");
  text->Put('[');
  for (int i = 0; i < Facts::kRank; ++i) {
    if (i > 0) text->Put(", ");
    const int64_t size = Facts::Sizes::kIsThere ? Facts::Sizes::kArray[i] : DOVETAIL_ANY_SIZE;
    if (size >= 0) {
      text->PutNumber(size);
    } else if (size == DOVETAIL_ANY_SIZE) {
      text->Put('*');
    } else {
      text->PutName(size);
    }
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
  PutType(kWanted.dtype, &text);
  PutShape<Facts>(&text);
  if ((kWanted.flags & DOVETAIL_C_CONTIGUOUS) != 0) text.Put(", C-contiguous");
  if ((kWanted.flags & DOVETAIL_F_CONTIGUOUS) != 0) text.Put(", F-contiguous");
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
