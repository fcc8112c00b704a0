// A library as the checks see it, whatever the type of its arrays. adapt.h makes one of the class
// that the library's author writes.

#ifndef DLPACK_CONFORMANCE_LIBRARY_H_
#define DLPACK_CONFORMANCE_LIBRARY_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dlpack/dlpack.h"
#include "dlpack_conformance/array.h"

namespace dlpack_conformance {

// A value, or why the library refuses it.
template <typename T>
struct Result {
  std::optional<T> value;
  std::string refusal;

  explicit operator bool() const { return value.has_value(); }
  static Result Refused(std::string why) { return {std::nullopt, std::move(why)}; }
};

enum class Kind { kVersioned, kLegacy };

inline const char* NameOf(Kind kind) { return kind == Kind::kVersioned ? "versioned" : "legacy"; }

// A struct of either kind, which somebody else owns.
class Managed {
 public:
  explicit Managed(DLManagedTensorVersioned* versioned) : versioned_(versioned) {}
  explicit Managed(DLManagedTensor* legacy) : legacy_(legacy) {}

  Kind kind() const { return versioned_ != nullptr ? Kind::kVersioned : Kind::kLegacy; }
  DLManagedTensorVersioned* versioned() const { return versioned_; }
  DLManagedTensor* legacy() const { return legacy_; }
  const void* address() const {
    return versioned_ != nullptr ? static_cast<const void*>(versioned_) : legacy_;
  }
  DLTensor& tensor() const {
    return versioned_ != nullptr ? versioned_->dl_tensor : legacy_->dl_tensor;
  }
  // Calls the deleter, unless it is NULL.
  void Delete() const {
    if (versioned_ != nullptr) {
      if (versioned_->deleter != nullptr) versioned_->deleter(versioned_);
    } else if (legacy_->deleter != nullptr) {
      legacy_->deleter(legacy_);
    }
  }

 private:
  DLManagedTensorVersioned* versioned_ = nullptr;
  DLManagedTensor* legacy_ = nullptr;
};

class AnyArray {
 public:
  virtual ~AnyArray() = default;
  virtual Result<Managed> Export(Kind kind) = 0;
  virtual Result<Managed> ExportCopy() = 0;
  virtual Result<Seen> Look() = 0;
  virtual Result<bool> Write() = 0;
  // Another handle of the array, made by the copy constructor; nullptr if there is none.
  virtual std::unique_ptr<AnyArray> Copy() = 0;
};

using ArrayPtr = std::unique_ptr<AnyArray>;

class AnyLibrary {
 public:
  virtual ~AnyLibrary() = default;

  // The functions that the library has.
  virtual bool exports(Kind kind) const = 0;
  virtual bool imports(Kind kind) const = 0;
  // Whether it takes tensors of unknown types, or on unknown devices, and only passes them on.
  virtual bool passes_on_types() const = 0;
  virtual bool passes_on_devices() const = 0;

  virtual Result<ArrayPtr> Make(const ArraySpec& spec) const = 0;
  virtual Result<ArrayPtr> Import(Managed managed) const = 0;
};

}  // namespace dlpack_conformance

#endif  // DLPACK_CONFORMANCE_LIBRARY_H_
