// Adapted<T>: the AnyLibrary of a class T with the functions that suite.h describes.
//
// A function refuses by an exception, or by what it returns: a null pointer, an empty
// std::optional, a Status or StatusOr that is not ok(), false. Nothing else is needed of its type.

#ifndef DLPACK_CONFORMANCE_ADAPT_H_
#define DLPACK_CONFORMANCE_ADAPT_H_

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "dlpack/dlpack.h"
#include "dlpack_conformance/library.h"

namespace dlpack_conformance::internal {

// Whether an expression of a type compiles: kCompiles<Call, T>.
template <template <typename> class Call, typename T, typename = void>
inline constexpr bool kCompiles = false;
template <template <typename> class Call, typename T>
inline constexpr bool kCompiles<Call, T, std::void_t<Call<T>>> = true;

template <typename T>
using ArrayOf = std::add_lvalue_reference_t<typename T::Array>;
template <typename T>
using ExportOf = decltype(T::Export(std::declval<ArrayOf<T>>()));
template <typename T>
using ExportLegacyOf = decltype(T::ExportLegacy(std::declval<ArrayOf<T>>()));
template <typename T>
using ExportCopyOf = decltype(T::ExportCopy(std::declval<ArrayOf<T>>()));
template <typename T>
using ImportOf = decltype(T::Import(std::declval<DLManagedTensorVersioned*>()));
template <typename T>
using ImportLegacyOf = decltype(T::ImportLegacy(std::declval<DLManagedTensor*>()));
template <typename T>
using WriteOf = decltype(T::Write(std::declval<ArrayOf<T>>()));

template <typename T>
using PassesOnTypesOf = decltype(T::kPassesOnTypes);
template <typename T>
using PassesOnDevicesOf = decltype(T::kPassesOnDevices);

template <typename R>
using OkOf = decltype(std::declval<R&>().ok());
template <typename R>
using StatusOf = decltype(std::declval<R&>().status().ToString());
template <typename R>
using TextOf = decltype(std::declval<R&>().ToString());
template <typename R>
using ReleaseOf = decltype(std::declval<R&>().release());
template <typename R>
using IsNullOf = decltype(std::declval<const R&>().get() == nullptr);
template <typename R>
using ValueOf = decltype(*std::declval<R&>());

template <typename R>
std::string ReasonOf(const R& result) {
  if constexpr (kCompiles<StatusOf, const R>) {
    return result.status().ToString();
  } else if constexpr (kCompiles<TextOf, const R>) {
    return result.ToString();
  } else {
    return "its result is not ok()";
  }
}

// Converts what a function of the library returned to a Result<Wanted>.
template <typename Wanted, typename R>
Result<Wanted> Unwrap(R&& returned) {
  using Plain = std::decay_t<R>;
  if constexpr (std::is_same_v<Plain, Wanted>) {
    if constexpr (std::is_pointer_v<Plain>) {
      if (returned == nullptr) return Result<Wanted>::Refused("a null pointer is returned");
    } else if constexpr (kCompiles<IsNullOf, Plain>) {
      if (returned.get() == nullptr) return Result<Wanted>::Refused("a null pointer is returned");
    } else if constexpr (std::is_same_v<Plain, bool>) {
      if (!returned) return Result<Wanted>::Refused("false is returned");
    }
    return {std::forward<R>(returned), {}};
  } else if constexpr (kCompiles<OkOf, Plain>) {
    if (!returned.ok()) return Result<Wanted>::Refused(ReasonOf(returned));
    if constexpr (kCompiles<ValueOf, Plain>) {
      return Unwrap<Wanted>(*std::forward<R>(returned));
    } else {
      return {true, {}};
    }
  } else if constexpr (std::is_pointer_v<Wanted> && kCompiles<ReleaseOf, Plain>) {
    return Unwrap<Wanted>(returned.release());
  } else {
    if (!returned) return Result<Wanted>::Refused("nothing is returned");
    return Unwrap<Wanted>(*std::forward<R>(returned));
  }
}

// Calls a function of the library, and returns what it wants or why it refuses.
template <typename Wanted, typename Function>
Result<Wanted> Attempt(Function&& function) {
#ifdef __cpp_exceptions
  try {
#endif
    if constexpr (std::is_void_v<decltype(function())>) {
      function();
      return {true, {}};
    } else {
      return Unwrap<Wanted>(function());
    }
#ifdef __cpp_exceptions
  } catch (const std::exception& error) {
    return Result<Wanted>::Refused(error.what());
  } catch (...) {
    return Result<Wanted>::Refused("an exception of an unknown type is thrown");
  }
#endif
}

// A Result of one type as a Result of another, made by a function.
template <typename To, typename From, typename Function>
Result<To> Convert(Result<From> from, Function&& function) {
  if (!from) return Result<To>::Refused(std::move(from.refusal));
  return {function(*std::move(from.value)), {}};
}

template <typename Pointer>
Result<Managed> ToManaged(Result<Pointer> made) {
  return Convert<Managed>(std::move(made), [](Pointer pointer) { return Managed(pointer); });
}

template <typename T>
class AdaptedArray final : public AnyArray {
 public:
  using Array = typename T::Array;
  static_assert(!std::is_pointer_v<Array>,
                "nobody would free it: Array has to be a std::unique_ptr with a deleter");
  explicit AdaptedArray(Array array) : array_(std::move(array)) {}

  Result<Managed> Export(Kind kind) override {
    if (kind == Kind::kVersioned) {
      if constexpr (kCompiles<ExportOf, T>) {
        return ToManaged(Attempt<DLManagedTensorVersioned*>(
            [&]() -> decltype(auto) { return T::Export(array_); }));
      }
    } else if constexpr (kCompiles<ExportLegacyOf, T>) {
      return ToManaged(
          Attempt<DLManagedTensor*>([&]() -> decltype(auto) { return T::ExportLegacy(array_); }));
    }
    return Result<Managed>::Refused("there is no such function");
  }
  Result<Managed> ExportCopy() override {
    if constexpr (kCompiles<ExportCopyOf, T>) {
      return ToManaged(Attempt<DLManagedTensorVersioned*>(
          [&]() -> decltype(auto) { return T::ExportCopy(array_); }));
    }
    return Result<Managed>::Refused("there is no ExportCopy()");
  }
  Result<Seen> Look() override {
    if constexpr (kCompiles<ImportOf, T> || kCompiles<ImportLegacyOf, T>) {
      return Attempt<Seen>([&] { return T::Look(array_); });
    }
    return Result<Seen>::Refused("there is no import");
  }
  Result<bool> Write() override {
    if constexpr (kCompiles<WriteOf, T>) {
      return Attempt<bool>([&]() -> decltype(auto) { return T::Write(array_); });
    }
    return Result<bool>::Refused("there is no Write()");
  }
  std::unique_ptr<AnyArray> Copy() override {
    if constexpr (std::is_copy_constructible_v<Array>) {
      return std::make_unique<AdaptedArray>(array_);
    }
    return nullptr;
  }

 private:
  Array array_;
};

template <typename T>
class Adapted final : public AnyLibrary {
  static_assert(kCompiles<ExportOf, T> || kCompiles<ExportLegacyOf, T> || kCompiles<ImportOf, T> ||
                    kCompiles<ImportLegacyOf, T>,
                "the class needs one of Export, ExportLegacy, Import and ImportLegacy");

 public:
  bool exports(Kind kind) const override {
    return kind == Kind::kVersioned ? kCompiles<ExportOf, T> : kCompiles<ExportLegacyOf, T>;
  }
  bool imports(Kind kind) const override {
    return kind == Kind::kVersioned ? kCompiles<ImportOf, T> : kCompiles<ImportLegacyOf, T>;
  }
  bool passes_on_types() const override {
    if constexpr (kCompiles<PassesOnTypesOf, T>) return T::kPassesOnTypes;
    return false;
  }
  bool passes_on_devices() const override {
    if constexpr (kCompiles<PassesOnDevicesOf, T>) return T::kPassesOnDevices;
    return false;
  }

  Result<ArrayPtr> Make(const ArraySpec& spec) const override {
    if constexpr (kCompiles<ExportOf, T> || kCompiles<ExportLegacyOf, T>) {
      return ToArray(Attempt<typename T::Array>([&]() -> decltype(auto) { return T::Make(spec); }));
    }
    return Result<ArrayPtr>::Refused("there is no export");
  }
  Result<ArrayPtr> Import(Managed managed) const override {
    if (managed.kind() == Kind::kVersioned) {
      if constexpr (kCompiles<ImportOf, T>) {
        return ToArray(Attempt<typename T::Array>(
            [&]() -> decltype(auto) { return T::Import(managed.versioned()); }));
      }
    } else if constexpr (kCompiles<ImportLegacyOf, T>) {
      return ToArray(Attempt<typename T::Array>(
          [&]() -> decltype(auto) { return T::ImportLegacy(managed.legacy()); }));
    }
    return Result<ArrayPtr>::Refused("there is no such function");
  }

 private:
  static Result<ArrayPtr> ToArray(Result<typename T::Array> made) {
    return Convert<ArrayPtr>(std::move(made), [](typename T::Array array) {
      return std::make_unique<AdaptedArray<T>>(std::move(array));
    });
  }
};

}  // namespace dlpack_conformance::internal

#endif  // DLPACK_CONFORMANCE_ADAPT_H_
