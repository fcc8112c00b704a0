// Sole ownership of an ArrowSchema, an ArrowArray or an ArrowArrayStream.
//
//   OwnedArrow<ArrowArray> array(given);      // moved: `given` is marked as released
//   array->length
//
// The destructor calls `release` once, unless the struct is empty or was moved from. Any thread.

#ifndef DOVETAIL_INTEROP_ARROW_OWNED_H_
#define DOVETAIL_INTEROP_ARROW_OWNED_H_

#include "dovetail/core/config.h"
#include "dovetail/interop/arrow/c_data.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {

template <typename Struct>
class OwnedArrow {
 public:
  OwnedArrow() noexcept : value_{} {}
  explicit OwnedArrow(Struct* from) noexcept : value_(*from) { from->release = nullptr; }
  OwnedArrow(OwnedArrow&& other) noexcept : OwnedArrow(&other.value_) {}
  ~OwnedArrow() {
    if (value_.release != nullptr) value_.release(&value_);
  }

  // For an exporter to fill in. Empty until then.
  Struct* get() { return &value_; }
  // Hands the struct over to the caller.
  Struct Take() {
    Struct taken = value_;
    value_.release = nullptr;
    return taken;
  }
  const Struct& operator*() const { return value_; }
  const Struct* operator->() const { return &value_; }

 private:
  Struct value_;
};

}  // namespace DOVETAIL_ABI
}  // namespace dovetail

#endif  // DOVETAIL_INTEROP_ARROW_OWNED_H_
