// Compares a vendor's own declarations with ours at compile time: kPassedAlike<TheirType, OurType>,
// kCalledAlike<decltype(&theirs), decltype(ours)>, DOVETAIL_SAME_FIELD(TheirStruct, OurStruct,
// field).

#ifndef DOVETAIL_DEVICES_GPU_VENDOR_TESTING_SAME_INTERFACE_H_
#define DOVETAIL_DEVICES_GPU_VENDOR_TESTING_SAME_INTERFACE_H_

#include <cstddef>
#include <type_traits>

namespace dovetail::gpu {

// Whether values of the two types are passed in the same way.
template <typename Theirs, typename Ours>
constexpr bool kPassedAlike = sizeof(Theirs) == sizeof(Ours) && alignof(Theirs) == alignof(Ours) &&
                              std::is_pointer_v<Theirs> == std::is_pointer_v<Ours> &&
                              std::is_class_v<Theirs> == std::is_class_v<Ours>;

template <typename... Types>
struct TypeList {};

template <typename Theirs, typename Ours>
constexpr bool kAllPassedAlike = false;  // another number of parameters
template <>
inline constexpr bool kAllPassedAlike<TypeList<>, TypeList<>> = true;
template <typename T, typename... Theirs, typename O, typename... Ours>
constexpr bool kAllPassedAlike<TypeList<T, Theirs...>, TypeList<O, Ours...>> =
    kPassedAlike<T, O> && kAllPassedAlike<TypeList<Theirs...>, TypeList<Ours...>>;

template <typename Theirs, typename Ours>
constexpr bool kCalledAlike = false;
template <typename T, typename... Theirs, typename O, typename... Ours>
constexpr bool kCalledAlike<T (*)(Theirs...), O (*)(Ours...)> =
    kPassedAlike<T, O> && kAllPassedAlike<TypeList<Theirs...>, TypeList<Ours...>>;

}  // namespace dovetail::gpu

#define DOVETAIL_SAME_FIELD(Theirs, Ours, field)                    \
  static_assert(offsetof(Theirs, field) == offsetof(Ours, field) && \
                sizeof(Theirs::field) == sizeof(Ours::field))

#endif  // DOVETAIL_DEVICES_GPU_VENDOR_TESTING_SAME_INTERFACE_H_
