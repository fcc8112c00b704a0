// What keeps borrowed memory alive, in the doors whose imports take it as an argument: a deleter,
// or an object such as a std::shared_ptr.
//
//   Tensor::Wrap(data, shape, strides, device, DeleterOf<float>(std::move(owner)))
//
// A deleter is called once, with the address of element 0 or without an argument. An object is kept
// until then. Either happens on whichever thread drops the last reference, and must not throw.

#ifndef DOVETAIL_INTEROP_OWNER_H_
#define DOVETAIL_INTEROP_OWNER_H_

#include <type_traits>
#include <utility>

#include "dovetail/core/config.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// A deleter for Tensor::Wrap, whose elements are of type T.
template <typename T, typename Owner>
auto DeleterOf(Owner owner) {
  if constexpr (std::is_invocable_v<Owner&, T*> || std::is_invocable_v<Owner&>) {
    return owner;
  } else {
    return [owner = std::move(owner)] {};
  }
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OWNER_H_
