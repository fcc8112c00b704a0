#include "dovetail/core/stream.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"

namespace dovetail {
inline namespace DOVETAIL_ABI {
namespace {

// The current streams of this thread that are not the default ones.
absl::InlinedVector<Stream, 1>& CurrentStreams() {
  static thread_local absl::InlinedVector<Stream, 1> streams;
  return streams;
}

}  // namespace

Stream CurrentStream(Device device) {
  if (device.type == DeviceType::kCpu) return Stream::Default(device);  // it has no other
  device = StreamDevice(device);
  for (const Stream& stream : CurrentStreams()) {
    if (stream.device() == device) return stream;
  }
  return Stream::Default(device);
}

Stream ExchangeCurrentStream(Stream stream) {
  auto& streams = CurrentStreams();
  const Device device = stream.device();
  const auto current = std::find_if(streams.begin(), streams.end(), [device](const Stream& other) {
    return other.device() == device;
  });
  if (current != streams.end()) {
    std::swap(*current, stream);
    if (*current == Stream::Default(device)) streams.erase(current);
    return stream;
  }
  Stream previous = Stream::Default(device);
  if (stream != previous) streams.push_back(std::move(stream));
  return previous;
}

std::string Stream::ToString() const {
  if (handle_ == NativeStream{0}) return absl::StrCat("default stream of ", device_.ToString());
  return absl::StrCat("stream 0x", absl::Hex(static_cast<uintptr_t>(handle_)), " of ",
                      device_.ToString());
}

}  // namespace DOVETAIL_ABI
}  // namespace dovetail
