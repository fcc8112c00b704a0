// The fast road of a kernel that XLA calls on the CPU: tensors and numbers, none of them left out,
// none traced. What each parameter wants is known to the compiler here. Anything else, and the
// errors of arguments, are the package's (host->xla_kernel).

#ifndef DOVETAIL_PYTHON_KERNELS_XLA_PLAIN_H_
#define DOVETAIL_PYTHON_KERNELS_XLA_PLAIN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "dovetail/python/fit/fill_borrowed.h"
#include "dovetail/python/fit/fits.h"
#include "dovetail/python/kernels/kernel_abi.h"
#include "dovetail/python/kernels/parameter_text.h"
#include "dovetail/python/kernels/xla_ffi.h"

namespace dovetail {
inline namespace DOVETAIL_ARG_ABI {
namespace internal_kernels {

// Where a parameter's argument is in a call frame, by the parameters of the kernel.
struct XlaPlace {
  int argument = -1;   // of a tensor that is read
  int result = -1;     // of a tensor that is written
  int attribute = -1;  // of a number: attributes are sorted by name
};

constexpr bool IsBefore(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return static_cast<unsigned char>(*a) < static_cast<unsigned char>(*b);
}

struct XlaCounts {
  int arguments = 0, results = 0, attributes = 0;
};
// Of the first `count` parameters.
constexpr XlaCounts CountXla(const DovetailParameter* const* parameters, size_t count) {
  XlaCounts counts;
  for (size_t i = 0; i < count; ++i) {
    const bool is_tensor = parameters[i]->kind == DOVETAIL_KIND_TENSOR;
    const uint32_t flags = parameters[i]->flags;
    const bool is_out = (flags & DOVETAIL_PARAMETER_OUT) != 0;
    counts.arguments += is_tensor && !is_out ? 1 : 0;
    counts.results += is_tensor && (is_out || (flags & DOVETAIL_PARAMETER_INOUT) != 0) ? 1 : 0;
    counts.attributes += is_tensor ? 0 : 1;
  }
  return counts;
}
constexpr XlaPlace PlaceInXla(const DovetailParameter* const* parameters, size_t count, size_t at) {
  const XlaCounts before = CountXla(parameters, at), with = CountXla(parameters, at + 1);
  XlaPlace place;
  if (with.arguments > before.arguments) place.argument = before.arguments;
  if (with.results > before.results) place.result = before.results;
  if (with.attributes == before.attributes) return place;
  place.attribute = 0;
  for (size_t i = 0; i < count; ++i) {
    if (parameters[i]->kind == DOVETAIL_KIND_TENSOR) continue;
    place.attribute += IsBefore(parameters[i]->name, parameters[at]->name) ? 1 : 0;
  }
  return place;
}

// One code for all parameters that want the same. False for what it does not know, too.
template <const DovetailRequirements& kWanted>
[[gnu::noinline]] bool TakePlainBuffer(const XlaBuffer& buffer, int32_t position,
                                       DovetailCall* call, DovetailBorrowed* borrowed) {
  return internal_fit::FillRowMajor(XlaTensor(buffer, {kDLCPU, 0}), borrowed) &&
         internal_fit::FitsPlain<kWanted>(position, call, borrowed);
}

template <typename Type>
[[gnu::always_inline]] inline bool TakePlain(const XlaCallFrame& frame, XlaPlace place,
                                             const char* name, int32_t position, DovetailCall* call,
                                             DovetailBorrowed* borrowed,
                                             DovetailArgument* argument) {
  argument->is_there = 1;
  if constexpr (Type::kKind == DOVETAIL_KIND_TENSOR) {
    argument->value.tensor = borrowed;
    const XlaBuffer& buffer =
        place.result >= 0 ? *frame.results.all[place.result] : *frame.arguments.all[place.argument];
    if (place.result >= 0 && place.argument >= 0 &&
        frame.arguments.all[place.argument]->data != buffer.data) {
      return false;
    }
    return TakePlainBuffer<*Type::kWanted>(buffer, position, call, borrowed);
  } else {
    const XlaAttributes& all = frame.attributes;
    const XlaBytes& found = *all.names[place.attribute];
    const size_t size = std::strlen(name);
    if (all.types[place.attribute] != kXlaScalar || found.size != size ||
        std::memcmp(found.data, name, size) != 0) {
      return false;
    }
    const auto& scalar = *static_cast<const XlaScalar*>(all.all[place.attribute]);
    const DLDataType dtype = XlaTypeOf(scalar.dtype);
    if constexpr (Type::kKind == DOVETAIL_KIND_FLOAT) {
      if (dtype.code != kDLFloat || dtype.bits != 64) return false;
      std::memcpy(&argument->value.number, scalar.value, sizeof(double));
      return true;
    } else if constexpr (Type::kKind == DOVETAIL_KIND_INT) {
      if (dtype.code != kDLInt || dtype.bits != 64) return false;
      std::memcpy(&argument->value.integer, scalar.value, sizeof(int64_t));
      return argument->value.integer >= Type::kLeast && argument->value.integer <= Type::kMost;
    } else {
      argument->value.integer = *static_cast<const unsigned char*>(scalar.value) != 0;
      return dtype.code == kDLBool;
    }
  }
}

}  // namespace internal_kernels
}  // namespace DOVETAIL_ARG_ABI
}  // namespace dovetail

#endif  // DOVETAIL_PYTHON_KERNELS_XLA_PLAIN_H_
