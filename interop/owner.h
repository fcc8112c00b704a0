// What keeps borrowed memory alive, in the doors whose imports take it as an argument: a deleter,
// or an object such as a std::shared_ptr.
//
//   return KeptBy<float>(std::forward<Owner>(owner), internal_tensor::WrapUnowned(data, …));
//
// A deleter is called once, with the address of element 0 or without an argument. An object is kept
// until then. Either happens on whichever thread drops the last reference, and must not throw.

#ifndef DOVETAIL_INTEROP_OWNER_H_
#define DOVETAIL_INTEROP_OWNER_H_

#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "dovetail/core/config.h"
#include "dovetail/core/tensor.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace internal_interop {

// `tensor` comes from WrapUnowned, and its elements are of type T. If it is an error, it is
// returned and `owner` stays as it is.
template <typename T, typename Owner>
absl::StatusOr<Tensor> KeptBy(Owner&& owner, absl::StatusOr<Tensor> tensor) {
  struct Kept {
    std::decay_t<Owner> owner;
    T* data;
  };
  constexpr auto kRelease = [](void* released) {
    const std::unique_ptr<Kept> kept(static_cast<Kept*>(released));
    if constexpr (std::is_invocable_v<std::decay_t<Owner>&, T*>) {
      kept->owner(kept->data);
    } else if constexpr (std::is_invocable_v<std::decay_t<Owner>&>) {
      kept->owner();
    }
  };
  if (tensor.ok()) {
    auto* const data = static_cast<T*>(tensor->raw_data());
    internal_tensor::SetRelease(*tensor, {kRelease, new Kept{std::forward<Owner>(owner), data}});
  }
  return tensor;
}

}  // namespace internal_interop
}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_OWNER_H_
