#include "dovetail/core/stream.h"

#include "absl/strings/str_cat.h"

namespace dovetail::inline DOVETAIL_ABI {

std::string Stream::ToString() const {
  if (handle_ == NativeStream{0}) return absl::StrCat("default stream of ", device_.ToString());
  return absl::StrCat("stream 0x", absl::Hex(static_cast<uintptr_t>(handle_)), " of ",
                      device_.ToString());
}

}  // namespace dovetail::inline DOVETAIL_ABI
